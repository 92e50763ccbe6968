# Manifests manage these resources now: Terraform forgets them and destroys nothing.
# Move this file next to the configuration, delete the resource blocks that it names, and apply.
# Requires Terraform 1.7 or OpenTofu 1.10, or later.

removed {
  from = hoop_connection.orders

  lifecycle {
    destroy = false
  }
}

removed {
  from = hoop_datamasking_rules.contacts

  lifecycle {
    destroy = false
  }
}

removed {
  from = hoop_runbook_configuration.operations

  lifecycle {
    destroy = false
  }
}
