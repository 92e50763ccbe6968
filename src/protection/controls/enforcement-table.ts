/**
 * What sessions do with a control: they check all of it, a part of it (`only commands`), or nothing; they are refused once a rule blocks
 * something; they are refused or check it all; or the source does not show which.
 */
export type Enforcement = 'enforced' | 'refused' | 'refused or enforced' | 'unchecked' | 'unclear' | `only ${string}`;

/** The controls whose enforcement depends on the type of a connection, and on how it is used. */
export const enforcedControls = ['input', 'output', 'masking', 'redaction'] as const;
export type EnforcedControl = (typeof enforcedControls)[number];

/** What holds where all of the conditions do. */
export type EnforcementCase<Result = Enforcement> = {
  readonly is: Result;
  /** The gateway is older than this version. */
  readonly before?: string;
  /** The gateway has no version of the public one: only the document of the interface says what it does. */
  readonly undescribed?: true;
  /** Feature flags of the gateway, on or off. */
  readonly flags?: Readonly<Record<string, boolean>>;
  /** The provider that finds what is masked is one of these: '' where the gateway has none. A gateway that is not the public one has no such providers. */
  readonly provider?: readonly string[];
};

/** One result, or the cases of which the first one that holds decides; the last one has no conditions. */
export type EnforcementCell<Result = Enforcement> = Result | readonly EnforcementCase<Result>[];

/** How sessions of some types enforce rules. */
export type EnforcementRow = {
  /** Subtypes; or types without a subtype. */
  readonly subtypes: readonly string[];
  /** The types with which the public gateway knows these subtypes. */
  readonly of?: readonly string[];
  /** Types of which every other subtype is meant, too. */
  readonly types?: readonly string[];
  readonly native: Readonly<Record<EnforcedControl, EnforcementCell>>;
  /** Whether the gateway runs commands and runbooks; absent: it does. */
  readonly commands?: EnforcementCell<'enforced' | 'none'>;
  /** What native sessions do with the analyzer, which blocks requests there and asks for no review; absent: nothing. */
  readonly analyzer?: EnforcementCell;
};

const ssh = 'experimental.ssh_guardrails';
const sshInput = 'experimental.ssh_input_guardrails';

/** A gateway that is built from its source reports no version; these flags show the least that it has. */
export const flagsSince: Readonly<Record<string, string>> = { [ssh]: '1.104.0' };

/** The interface documents these as protocols that its gateway reads. */
const byInterface: EnforcementCase = { undescribed: true, is: 'enforced' };
/** The interface names no such type, or only that it forwards. */
const notSaid: EnforcementCase = { undescribed: true, is: 'unclear' };
const uncheckedBefore = (before: string): EnforcementCase => ({ before, is: 'unchecked' });

/** Since 1.108.3, a proxy that evaluates no guardrails refuses sessions; before, they ran unchecked. */
const refusing: EnforcementCell = [uncheckedBefore('1.108.3'), { is: 'refused' }];
const refusingProxy: readonly EnforcementCase[] = [uncheckedBefore('1.108.3'), { is: 'refused or enforced' }];
const refusingProtocol: EnforcementCell = [byInterface, ...refusingProxy];
/** The types that the agent is not sent, or that its proxy leaves out. */
const onlyByInterface: EnforcementCell = [byInterface, { is: 'unchecked' }];
/** The agent does not run programs for these types: `exec is not allowed`. */
const onlyNative: EnforcementCell<'enforced' | 'none'> = [{ undescribed: true, is: 'enforced' }, { is: 'none' }];
/** Sent to the agent for these providers alone. */
const masked: readonly EnforcementCase[] = [{ provider: ['', 'gcp'], is: 'unchecked' }, { is: 'enforced' }];
/** Sent to the agent with every provider. */
const redacted: readonly EnforcementCase[] = [{ provider: [''], is: 'unchecked' }, { is: 'enforced' }];
/** Requests pass where the gateway has no model, which is not read, and while the model does not answer. */
const analyzedSince = (version: string): EnforcementCell => [
  uncheckedBefore(version),
  { flags: { 'experimental.http_session_analyzer': false }, is: 'unchecked' },
  { is: 'unclear' },
];
const ofHttp: Pick<EnforcementRow['native'], 'masking' | 'redaction'> = {
  masking: [uncheckedBefore('1.49.3'), ...masked],
  redaction: onlyByInterface,
};

/** Commands and runbooks check all of what they send and return, where the gateway runs them. */
export const ofCommands: Readonly<Record<EnforcedControl, EnforcementCell>> = {
  input: 'enforced',
  output: 'enforced',
  masking: masked,
  redaction: redacted,
};

/** Read in version 1.148 of the public gateway and its history. */
export const enforcementTable: readonly EnforcementRow[] = [
  {
    // In agent/controller/postgres.go.
    subtypes: ['postgres'],
    of: ['database'],
    native: {
      input: [byInterface, uncheckedBefore('1.42.3'), { is: 'enforced' }],
      output: [byInterface, uncheckedBefore('1.42.3'), { is: 'enforced' }],
      masking: masked,
      redaction: redacted,
    },
  },
  {
    // In agent/controller/mysql.go, gateway/transport/client.go.
    subtypes: ['mysql'],
    of: ['database'],
    native: { input: refusingProtocol, output: refusingProtocol, masking: masked, redaction: onlyByInterface },
  },
  {
    // In agent/controller/mongodb.go, gateway/transport/client.go.
    subtypes: ['mongodb'],
    of: ['database'],
    native: { input: refusingProtocol, output: refusingProtocol, masking: masked, redaction: redacted },
  },
  {
    // In agent/controller/mssql.go, agent/integration/mssql_test.go, gateway/transport/client.go.
    subtypes: ['mssql'],
    of: ['database'],
    native: {
      input: [byInterface, uncheckedBefore('1.108.3'), { before: '1.122.0', is: 'refused' }, { is: 'enforced' }],
      // Refused where no input is blocked; what happens beside input is not said.
      output: [byInterface, uncheckedBefore('1.108.3'), { before: '1.122.0', is: 'refused' }, { is: 'unclear' }],
      masking: onlyByInterface,
      redaction: onlyByInterface,
    },
  },
  {
    // In agent/controller/oracle.go.
    subtypes: ['oracledb'],
    of: ['database'],
    native: { input: 'enforced', output: 'enforced', masking: masked, redaction: redacted },
  },
  {
    // In agent/controller/terminal.go, client/cmd/connect.go, common/proto/types.go.
    // A rule by itself is compared without a type. The command line of the gateway opens no native session of a database without subtype, dynamodb and cloudwatch.
    subtypes: ['', 'database', 'custom', 'command-line', 'dynamodb', 'cloudwatch', 'cloudmonitor', 'keyvaluedb'],
    native: {
      input: [byInterface, uncheckedBefore('1.43.0'), { is: 'enforced' }],
      output: [byInterface, uncheckedBefore('1.43.0'), { is: 'enforced' }],
      masking: masked,
      redaction: redacted,
    },
  },
  {
    // In agent/controller/ssh.go, common/featureflag/featureflag.go, gateway/transport/client.go.
    // Seen live: exec is not allowed for ssh type connections.
    subtypes: ['ssh', 'ssh-local', 'git', 'github'],
    of: ['application'],
    types: ['ssh'],
    native: {
      // Forwarded ports are never inspected.
      input: [
        uncheckedBefore('1.104.0'),
        { flags: { [ssh]: false, [sshInput]: false }, is: 'unchecked' },
        { provider: ['', 'gcp', 'alcatraz'], is: 'unclear' },
        { flags: { [ssh]: false, [sshInput]: true }, is: 'only typed lines' },
        { flags: { [ssh]: true, [sshInput]: false }, is: 'only commands' },
        { flags: { [ssh]: true, [sshInput]: true }, is: 'only commands and typed lines' },
        { is: 'unclear' },
      ],
      output: [
        uncheckedBefore('1.104.0'),
        { flags: { [ssh]: false }, is: 'unchecked' },
        { provider: ['', 'gcp', 'alcatraz'], is: 'unclear' },
        { flags: { [ssh]: true }, is: 'only shells and commands' },
        { is: 'unclear' },
      ],
      masking: 'unchecked',
      redaction: onlyByInterface,
    },
    commands: onlyNative,
  },
  {
    // In agent/controller/httpproxy.go, agent/controller/httpproxy_aianalyzer.go, 0004-mcpproxy-connection-type.md.
    // The agent is sent the rules with each request, and reads method, URL, headers and body as one text; nothing says what it reads of responses.
    subtypes: ['kibana', 'grafana', 'kubernetes-token', 'httpproxy'],
    of: ['application', 'custom'],
    types: ['httpproxy'],
    native: {
      input: [notSaid, uncheckedBefore('1.48.0'), { is: 'enforced' }],
      output: [uncheckedBefore('1.48.0'), { is: 'unclear' }],
      ...ofHttp,
    },
    analyzer: analyzedSince('1.95.0'),
  },
  {
    // In agent/controller/httpproxy.go, agent/controller/httpproxy_aianalyzer.go, common/proto/types.go, gateway/transport/client.go.
    subtypes: ['kubernetes', 'kubernetes-eks'],
    of: ['custom'],
    native: {
      input: [
        notSaid,
        uncheckedBefore('1.48.0'),
        { before: '1.108.3', is: 'enforced' },
        { before: '1.119.1', is: 'refused' },
        { is: 'enforced' },
      ],
      output: [uncheckedBefore('1.48.0'), { before: '1.108.3', is: 'unclear' }, { before: '1.119.1', is: 'refused' }, { is: 'unclear' }],
      ...ofHttp,
    },
    analyzer: analyzedSince('1.95.0'),
  },
  {
    // In agent/controller/mcpproxy.go, agent/controller/mcpproxy_aianalyzer.go, 0004-mcpproxy-connection-type.md.
    // Seen live: the open build refuses sessions with a guardrail.
    // The arguments of calls, the descriptions of tools, and the texts of results.
    subtypes: ['mcpproxy'],
    of: ['httpproxy', 'application', 'custom'],
    native: {
      input: [notSaid, { before: '1.131.0', is: 'unclear' }, { is: 'enforced' }],
      output: 'unclear',
      masking: [notSaid, { before: '1.131.0', is: 'unclear' }, ...masked],
      redaction: onlyByInterface,
    },
    analyzer: analyzedSince('1.131.0'),
    // The build without the library refuses such sessions.
  },
  {
    // In agent/controller/tcp.go, gateway/transport/client.go.
    // Seen live: bytes pass without a guardrail; with one, the session ends; exec is not allowed for tcp type connections.
    subtypes: ['tcp'],
    of: ['application'],
    types: ['tcp'],
    native: { input: refusing, output: refusing, masking: 'unchecked', redaction: onlyByInterface },
    commands: onlyNative,
  },
  {
    // In agent/controller/ssm.go, gateway/transport/client.go.
    subtypes: ['aws-ssm'],
    of: ['custom'],
    native: {
      input: [notSaid, ...refusingProxy],
      output: [notSaid, ...refusingProxy],
      masking: [notSaid, { is: 'unchecked' }],
      redaction: onlyByInterface,
    },
  },
  {
    // In gateway/rdp/irongw.go, gateway/rdp/rdp.go.
    // No guardrail is sent to the agent; only sessions in the browser hold frames back, which the agent reads by a provider of its own.
    subtypes: ['rdp'],
    of: ['custom'],
    native: {
      input: [notSaid, { is: 'unchecked' }],
      output: [notSaid, { is: 'unchecked' }],
      masking: [
        uncheckedBefore('1.98.0'),
        { flags: { 'experimental.rdp_pii_guard': false }, is: 'unchecked' },
        { flags: { 'experimental.rdp_pii_guard': true }, is: 'only sessions in the browser' },
        { is: 'unclear' },
      ],
      redaction: onlyByInterface,
    },
  },
  {
    // In agent/controller/terminal.go, common/proto/types.go.
    // The public gateway runs every other subtype as a command.
    subtypes: ['application'],
    types: ['application', 'custom'],
    native: {
      input: [notSaid, uncheckedBefore('1.43.0'), { is: 'enforced' }],
      output: [notSaid, uncheckedBefore('1.43.0'), { is: 'enforced' }],
      masking: [notSaid, ...masked],
      redaction: redacted,
    },
  },
];

/** A type that no source describes. */
export const unknownType: EnforcementRow = {
  subtypes: [],
  native: { input: 'unclear', output: 'unclear', masking: 'unclear', redaction: [byInterface, { is: 'unclear' }] },
};
