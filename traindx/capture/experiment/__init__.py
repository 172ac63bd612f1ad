"""What experiments have in common, whatever the framework: how an intervention is declared (`kinds`), its value read
(`values`) and its specification parsed (`catalogue`); how one that fails ends the script (`ending`), and what it tells
of itself (`site`); the script's seeds, moved (`seeds`).

`torch/interventions` tells how to add one. Those of Keras are declared alike, in `keras/interventions`."""
