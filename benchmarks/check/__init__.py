"""How often `traindx check` fails the right check of a faulty script, and none of a healthy one."""
