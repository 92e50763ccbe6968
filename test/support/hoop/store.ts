import { LinkTable } from './link-table.ts';
import type {
  AccessRuleRow,
  AgentRow,
  AnalyzerRuleRow,
  AttributeRow,
  AuditRow,
  ConnectionRow,
  EventSubscriptionRow,
  FederationRow,
  GuardrailRow,
  IdentityRow,
  MachineCredentialRow,
  MachineIdentityRow,
  MaskingLink,
  MaskingRow,
  PluginConnectionRow,
  PluginRow,
  ResourceRow,
  SessionRow,
  ReviewRow,
  RulepackRow,
  RunbookRuleRow,
  RunbooksRow,
  SpiffeMappingRow,
  TagRow,
} from './rows.ts';

/** The tables of the gateway of one organization; tests may read and change them. */
export class Store {
  readonly connections: Map<string, ConnectionRow> = new Map<string, ConnectionRow>();
  /** The name of a connection by its id. */
  readonly connectionNames: Map<string, string> = new Map<string, string>();
  readonly resources: Map<string, ResourceRow> = new Map<string, ResourceRow>();
  readonly guardrails: Map<string, GuardrailRow> = new Map<string, GuardrailRow>();
  readonly maskings: Map<string, MaskingRow> = new Map<string, MaskingRow>();
  readonly attributes: Map<string, AttributeRow> = new Map<string, AttributeRow>();
  readonly agents: Map<string, AgentRow> = new Map<string, AgentRow>();
  readonly runbookRules: Map<string, RunbookRuleRow> = new Map<string, RunbookRuleRow>();
  readonly reviews: Map<string, ReviewRow> = new Map<string, ReviewRow>();
  /** Oldest first. */
  readonly sessions: SessionRow[] = [];
  readonly accessRules: Map<string, AccessRuleRow> = new Map<string, AccessRuleRow>();
  readonly plugins: Map<string, PluginRow> = new Map<string, PluginRow>();
  /** The rows of plugins by their ids. */
  readonly pluginConnections: Map<string, PluginConnectionRow> = new Map<string, PluginConnectionRow>();
  readonly rulepacks: Map<string, RulepackRow> = new Map<string, RulepackRow>();
  readonly eventSubscriptions: Map<string, EventSubscriptionRow> = new Map<string, EventSubscriptionRow>();
  readonly analyzerRules: Map<string, AnalyzerRuleRow> = new Map<string, AnalyzerRuleRow>();
  readonly machineIdentities: Map<string, MachineIdentityRow> = new Map<string, MachineIdentityRow>();
  /** By the id of their connection. */
  readonly federations: Map<string, FederationRow> = new Map<string, FederationRow>();
  /** The credentials of machine identities; they outlive their connections. */
  readonly machineCredentials: Map<string, MachineCredentialRow> = new Map<string, MachineCredentialRow>();
  readonly jiraTemplates: Set<string> = new Set<string>();
  readonly groups: Set<string> = new Set<string>(['admin', 'auditor']);
  readonly identities: IdentityRow[] = [];
  readonly spiffeMappings: Map<string, SpiffeMappingRow> = new Map<string, SpiffeMappingRow>();
  /** The passwords of users by their addresses. */
  readonly passwords: Map<string, string> = new Map<string, string>();
  readonly tags: TagRow[] = [];
  readonly audit: AuditRow[] = [];
  /** Null if the organization has no row of runbook configurations. */
  runbooks: RunbooksRow | null = null;

  /** Pairs of guardrail id and connection id. */
  readonly guardrailLinks: LinkTable = new LinkTable();
  /** Pairs of masking rule id and connection id, with the other columns of a pair. */
  readonly maskingLinks: LinkTable = new LinkTable();
  readonly maskingPairs: Map<string, MaskingLink> = new Map<string, MaskingLink>();
  /** Pairs of attribute name and the name of the object with the attribute. */
  readonly connectionAttributes: LinkTable = new LinkTable();
  readonly guardrailAttributes: LinkTable = new LinkTable();
  readonly maskingAttributes: LinkTable = new LinkTable();
  readonly accessRuleAttributes: LinkTable = new LinkTable();
  readonly groupAttributes: LinkTable = new LinkTable();
  readonly analyzerAttributes: LinkTable = new LinkTable();
  readonly machineAttributes: LinkTable = new LinkTable();

  /** The connection that a path names by its name or its id. */
  findConnection(nameOrId: string): ConnectionRow | undefined {
    return this.connections.get(nameOrId) ?? this.connections.get(this.connectionNames.get(nameOrId.toLowerCase()) ?? '');
  }

  saveConnection(row: ConnectionRow): void {
    this.connections.set(row.name, row);
    this.connectionNames.set(row.id, row.name);
  }

  /** Deletes a connection and its links; its resource stays. */
  dropConnection(row: ConnectionRow): void {
    this.connections.delete(row.name);
    this.connectionNames.delete(row.id);
    this.guardrailLinks.dropRight(row.id);
    for (const rule of this.maskingLinks.leftsOf(row.id)) this.unlinkMasking(rule, row.id);
    this.connectionAttributes.dropRight(row.name);
    this.federations.delete(row.id);
    for (const one of this.pluginConnections.values()) if (one.connectionId === row.id) this.pluginConnections.delete(one.id);
  }

  pluginRows(plugin: string): readonly PluginConnectionRow[] {
    return [...this.pluginConnections.values()].filter((row) => row.plugin === plugin);
  }

  savePluginConnection(row: PluginConnectionRow): void {
    this.pluginConnections.set(row.id, row);
  }

  linkMasking(link: MaskingLink): void {
    this.maskingLinks.add(link.ruleId, link.connectionId);
    this.maskingPairs.set(`${link.ruleId} ${link.connectionId}`, link);
  }

  unlinkMasking(ruleId: string, connectionId: string): void {
    this.maskingLinks.remove(ruleId, connectionId);
    this.maskingPairs.delete(`${ruleId} ${connectionId}`);
  }

  maskingPair(ruleId: string, connectionId: string): MaskingLink | undefined {
    return this.maskingPairs.get(`${ruleId} ${connectionId}`);
  }

  guardrailNamed(name: string): GuardrailRow | undefined {
    return [...this.guardrails.values()].find((row) => row.name === name);
  }

  maskingNamed(name: string): MaskingRow | undefined {
    return [...this.maskings.values()].find((row) => row.name === name);
  }

  agentNamed(nameOrId: string): AgentRow | undefined {
    return this.agents.get(nameOrId.toLowerCase()) ?? [...this.agents.values()].find((agent) => agent.name === nameOrId);
  }
}
