/**
 * A second opinion about access on the public gateway, written from the specification alone. It shares no code with `src`: it
 * answers what one person can do on one connection, and after whose approval.
 */

/** What a person asks of a connection: the three access modes, and a credential for a native client. */
export const requests: readonly ['connect', 'exec', 'runbooks', 'credential'] = ['connect', 'exec', 'runbooks', 'credential'];

export type Request = (typeof requests)[number];

/** Where a connection leads: its secrets by the name of their variable, its agent, and what the agent runs. */
export type Lead = {
  readonly secrets: Readonly<Record<string, string>>;
  readonly agent: string;
  readonly subtype: string;
  readonly program: string;
};

/** A connection, as far as it decides access. */
export type AccessConnection = {
  readonly lead?: Lead;
  readonly open: readonly string[];
  readonly attributes: readonly string[];
  readonly reviewers: readonly string[];
  readonly minApprovals: number | null;
  readonly forcing: readonly string[];
  readonly longest: number | null;
};

export type RequestRule = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly connections: readonly string[];
  readonly attributes: readonly string[];
  readonly required: readonly string[];
  readonly skipped: readonly string[];
  readonly reviewers: readonly string[];
  readonly forcing: readonly string[];
  readonly mustAllApprove: boolean;
  readonly minApprovals: number | null;
  readonly longest: number | null;
};

export type RunbookPermission = {
  readonly name?: string;
  readonly groups: readonly string[];
  readonly connections: readonly string[];
  readonly files: readonly RunbookFile[];
};

export type RunbookFile = { readonly repository: string; readonly name: string };

/** How risky the analyzer finds what a person wants to run. */
export const riskLevels: readonly ['low', 'medium', 'high'] = ['low', 'medium', 'high'];

type RiskLevel = (typeof riskLevels)[number];

export type Analyzer = {
  readonly id: string;
  readonly connections: readonly string[];
  readonly attributes: readonly string[];
  readonly risk: Readonly<Record<RiskLevel, { readonly action: string; readonly rule: string | null }>>;
};

/** A machine identity: the connections that it names, and its attributes. */
export type Machine = { readonly name: string; readonly connections: readonly string[]; readonly attributes: readonly string[] };

/** Everything on a gateway that decides access. */
export type AccessState = {
  readonly license: 'free' | 'enterprise';
  readonly connections: Readonly<Record<string, AccessConnection>>;
  /** The groups of each row by the name of its connection; undefined where access control is off. */
  readonly rows: Readonly<Record<string, readonly string[]>> | undefined;
  /** The groups that each attribute grants. */
  readonly granted: Readonly<Record<string, readonly string[]>>;
  readonly rules: readonly RequestRule[];
  readonly runbookRules: readonly RunbookPermission[];
  readonly analyzers: readonly Analyzer[];
  readonly machines: readonly Machine[];
};

/** A person with groups, or a machine identity, which acts as an admin. */
export type Subject = { readonly groups: readonly string[]; readonly machine?: Machine };

/** The groups of which some have to approve, and those of which one is enough. */
export type NeededApproval = { readonly reviewers: readonly string[]; readonly needed: number; readonly forcing: readonly string[] };

/** A review and the longest duration; without approval there is no review. */
export type Terms = { readonly refused: boolean; readonly approval?: NeededApproval; readonly longest: number };

const twoDays = 172_800;
const open: Terms = { refused: false, longest: Infinity };

function shares(left: readonly string[], right: readonly string[]): boolean {
  return left.some((one) => right.includes(one));
}

function isAdmin({ groups, machine }: Subject): boolean {
  return machine !== undefined || groups.includes('admin');
}

/** Returns the groups that a subject acts with. */
export function actingGroups({ groups, machine }: Subject): readonly string[] {
  return machine === undefined ? groups : ['admin'];
}

/** Returns whether the gateway shows a connection to a subject. */
export function reaches(state: AccessState, subject: Subject, name: string): boolean {
  const connection = state.connections[name];
  if (connection === undefined) return false;
  const { groups } = subject;
  if (subject.machine !== undefined) {
    // Its attributes go with them.
    const machine = state.machines.find((one) => one.name === subject.machine?.name);
    return machine !== undefined && (machine.connections.includes(name) || shares(machine.attributes, connection.attributes));
  }
  if (state.rows === undefined || groups.includes('admin') || groups.includes('auditor')) return true;
  return (
    shares(state.rows[name] ?? [], groups) || connection.attributes.some((attribute) => shares(state.granted[attribute] ?? [], groups))
  );
}

/** Returns whether a subject may ask for this at all: the mode is open; the HTTP API alone refuses runs and credentials of an auditor, the gateway's own client does not. */
export function mayAsk({ connections }: AccessState, subject: Subject, name: string, request: Request): boolean {
  const isOnlyAuditor = subject.groups.includes('auditor') && !isAdmin(subject);
  if (isOnlyAuditor && (request === 'runbooks' || request === 'credential')) return false;
  if (subject.machine !== undefined && request !== 'connect') return false;
  return connections[name]?.open.includes(request === 'credential' ? 'connect' : request) === true;
}

/** Returns whether the runbook rules let a subject run a file on a connection. */
export function mayRunFile({ runbookRules }: AccessState, subject: Subject, name: string, file: RunbookFile): boolean {
  if (isAdmin(subject) || runbookRules.length === 0) return true;
  return runbookRules.some(
    ({ groups, connections, files }) =>
      (groups.length === 0 || shares(groups, subject.groups)) &&
      (connections.length === 0 || connections.includes(name)) &&
      (files.length === 0 || files.some((one) => one.repository === file.repository && startsLike(file.name, one.name))),
  );
}

/** `ILIKE 'start%'`: no case, `_` is any character, `%` any text. */
function startsLike(text: string, start: string): boolean {
  const literal = start.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
  return new RegExp(`^${literal.replaceAll('_', '[^]').replaceAll('%', '[^]*')}`, 'i').test(text);
}

/** Returns the rule that governs a step of a connection. */
export function governing(state: AccessState, name: string, type: 'jit' | 'command'): RequestRule | undefined {
  const candidates = state.rules.filter((rule) => rule.type === type || rule.type === 'jit_command');
  const attributes = state.connections[name]?.attributes ?? [];
  return (
    firstById(candidates.filter((rule) => shares(rule.attributes, attributes))) ??
    firstById(candidates.filter((rule) => rule.connections.includes(name)))
  );
}

function firstById<Row extends { readonly id: string }>(rows: readonly Row[]): Row | undefined {
  return rows.toSorted((left, right) => (left.id < right.id ? -1 : 1))[0];
}

/** Returns the terms of a session by connect, exec or a runbook, and of a credential. */
export function termsOf(state: AccessState, subject: Subject, name: string, request: Request): Terms {
  if (request === 'credential') return credentialTerms(state, subject, name);
  const groups = actingGroups(subject);
  const isConnect = request === 'connect';
  const rule = governing(state, name, isConnect ? 'jit' : 'command');
  if (rule === undefined || (rule.required.length > 0 && !shares(rule.required, groups))) return legacyTerms(state, name, isConnect);
  const longest = isConnect ? (rule.longest ?? twoDays) : Infinity;
  if (shares(rule.skipped, groups)) {
    const legacy = legacyTerms(state, name, isConnect);
    return { ...legacy, longest: Math.min(longest, legacy.longest) };
  }
  const count = rule.reviewers.length;
  // A credential is native access, too: it counts the minimum although all must approve a session, and needs a connection without reviewers.
  const hasCredential = isConnect && state.connections[name]?.reviewers.length === 0;
  const needed = rule.mustAllApprove && !hasCredential ? count : Math.min(count, rule.minApprovals ?? count);
  return { refused: false, approval: { reviewers: rule.reviewers, needed, forcing: rule.forcing }, longest };
}

/** Returns the terms of the reviewers of the connection itself. */
function legacyTerms({ license, connections }: AccessState, name: string, isConnect: boolean): Terms {
  const { reviewers, minApprovals, forcing, longest } = connections[name] ?? none;
  if (reviewers.length === 0) return open;
  if (license === 'free' && !isConnect) return { refused: true, longest: 0 };
  const needed = Math.min(reviewers.length, minApprovals ?? reviewers.length);
  const limit = license === 'free' ? twoDays : (longest ?? twoDays);
  return { refused: false, approval: { reviewers, needed, forcing }, longest: isConnect ? limit : Infinity };
}

const none: AccessConnection = { open: [], attributes: [], reviewers: [], minApprovals: null, forcing: [], longest: null };

function credentialTerms(state: AccessState, subject: Subject, name: string): Terms {
  if ((state.connections[name] ?? none).reviewers.length > 0) return { refused: true, longest: 0 };
  const rule = governing(state, name, 'jit');
  if (rule === undefined) return open;
  const longest = Math.min(twoDays, rule.longest ?? twoDays);
  if (shares(rule.skipped, actingGroups(subject))) return { refused: false, longest };
  const needed = Math.min(rule.reviewers.length, rule.minApprovals ?? rule.reviewers.length);
  return { refused: false, approval: { reviewers: rule.reviewers, needed, forcing: rule.forcing }, longest };
}

/** Returns the terms that the analyzer adds to an execution of a level of risk. */
export function analyzerTerms(state: AccessState, name: string, level: RiskLevel): Terms {
  const attributes = state.connections[name]?.attributes ?? [];
  const analyzer =
    firstById(state.analyzers.filter(({ connections }) => connections.includes(name))) ??
    firstById(state.analyzers.filter((one) => shares(one.attributes, attributes)));
  const { action, rule: asked } = analyzer?.risk[level] ?? { action: 'allow_execution', rule: null };
  if (action === 'allow_execution') return open;
  const rule = state.rules.find((one) => one.name === asked);
  if (action === 'block_execution' || rule === undefined) return { refused: true, longest: 0 };
  const count = rule.reviewers.length;
  const needed = rule.mustAllApprove ? count : Math.min(count, rule.minApprovals ?? count);
  return { refused: false, approval: { reviewers: rule.reviewers, needed, forcing: rule.forcing }, longest: Infinity };
}
