"""What experiments have in common, whatever the framework: how a framework applies the interventions of the catalogue
(`applies`); what an intervention may do in the script's process, and what is recorded of it (`site`); how an
intervention that fails ends the script (`ending`); the script's seeds, shifted (`seeds`)."""
