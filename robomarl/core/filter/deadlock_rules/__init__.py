"""Rules where paths meet: narrow places and roundabouts, part of the rules of `robomarl.core.filter.give_way`."""
