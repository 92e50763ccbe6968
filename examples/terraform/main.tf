# The old side: what Terraform managed before the objects moved to Ostiary.
terraform {
  required_providers {
    hoop = { source = "hoophq/hoop" }
  }
}

variable "orders_password" {
  type      = string
  sensitive = true
}

variable "runbooks_token" {
  type      = string
  sensitive = true
}

resource "hoop_connection" "orders" {
  name     = "orders-db"
  agent_id = "6b1e6b1a-93c5-4a3b-8b1d-7d4c2a1e5f60"
  type     = "database"
  subtype  = "postgres"
  command  = ["psql", "-h", "$HOST", "-U", "$USER", "-p", "$PORT", "$DB"]

  secrets = {
    "envvar:HOST" = "orders.db.internal"
    "envvar:USER" = "access"
    "envvar:PASS" = var.orders_password
    "envvar:PORT" = "5432"
    "envvar:DB"   = "orders"
  }

  reviewers = ["dba-team"]
  tags      = { env = "prod", team = "orders" }

  access_mode_connect  = "enabled"
  access_mode_exec     = "enabled"
  access_mode_runbooks = "disabled"
  access_schema        = "enabled"
}

resource "hoop_datamasking_rules" "contacts" {
  name                   = "contacts"
  description            = "Masks contact data."
  score_threshold        = 0.6
  connection_ids         = [hoop_connection.orders.id]
  supported_entity_types = [{ name = "CONTACT_INFORMATION", entity_types = ["EMAIL_ADDRESS", "PHONE_NUMBER"] }]
  custom_entity_types    = []
}

resource "hoop_runbook_configuration" "operations" {
  git_url         = "https://git.example.com/operations/runbooks"
  git_user        = "oauth2"
  git_password    = var.runbooks_token
  git_hook_ttl    = 300
  ssh_user        = ""
  ssh_key         = ""
  ssh_keypass     = ""
  ssh_known_hosts = ""
}

resource "hoop_user" "ada" {
  email  = "ada@example.com"
  groups = ["dba-team"]
  status = "active"
}
