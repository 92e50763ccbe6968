/** The types of the gateway's own Terraform provider (`hoophq/hoop`) that stand for a kind; by our names of kinds. */
export const terraformKinds: Readonly<Record<string, string>> = {
  hoop_connection: 'Connection',
  hoop_datamasking_rules: 'DataMaskingRule',
  hoop_datamasking_rule: 'DataMaskingRule',
  hoop_runbook_configuration: 'RunbookConfiguration',
};

/** The last part of the provider's address, wherever its registry is. */
export const terraformProvider = 'hoop';
