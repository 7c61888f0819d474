"""A campaign that looks for trouble: `robomarl prove --worst`.

It is written from the words of the vehicle file, and knows the filter only as a robot's program does: memory, view
and nominal command in, memory and command out. Nothing here may import the model that the filter's promise rests on
(a test reads the imports).
"""
