"""Where ways meet: narrow places and roundabouts, part of the rules of `robomarl.safety.give_way`."""
