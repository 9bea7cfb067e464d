"""Foreign settings: what other libraries call a setting, and what it is called here.

``table`` lists the names and answers ``--learning-rate`` at the command line, ``learning_rate`` in a settings file and in
Python; the guide to the command line shows it. ``remedies`` says what to give instead for a value, ``answers`` makes the error.
"""
