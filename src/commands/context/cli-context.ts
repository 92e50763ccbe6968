import type { Transport } from '../../gateway/http/transport.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Drift } from '../../model/result/drift.ts';
import type { Replay } from '../../model/result/replay.ts';
import type { ApplyResult } from '../../model/result/outcome.ts';
import type { Allowance, ForgeRequest, Plan } from '../../model/plan/plan.ts';

/** A stream. */
export type Output = {
  readonly write: (text: string) => void;
  readonly isTTY: boolean;
  /** The width of the terminal; undefined without one, and if the terminal does not report it. */
  readonly columns: number | undefined;
  /** Whether it is a terminal that understands escape sequences: for colors, and for a line that replaces the one before. */
  readonly ansi: boolean;
};

/** A result of a command for a caller that does not read the terminal, such as the action. */
export type CommandEvent =
  | { readonly secret: string | Uint8Array }
  | { readonly diagnostics: readonly Diagnostic[] }
  | { readonly plan: Plan; readonly result?: ApplyResult; readonly replay?: Replay | undefined }
  | { readonly drift: Drift }
  /** The names of the targets that a change affects, and of the others. */
  | { readonly affected: readonly string[]; readonly unaffected: readonly string[] }
  /** The file that a plan was saved in. */
  | { readonly saved: string };

/** The diagnostics that a run has printed. `add` returns those that are new. */
export type PrintedDiagnostics = {
  readonly all: () => readonly Diagnostic[];
  readonly has: (one: Diagnostic) => boolean;
  readonly add: (found: readonly Diagnostic[]) => readonly Diagnostic[];
};

/** What people decided about a plan: the refusals that they override, and the digest of the plan that they approved. */
export type PlanDecisions = { readonly allow: readonly Allowance[]; readonly digest?: string | undefined };

/** Everything outside the program, as an argument. */
export type CliContext = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether stdin and stderr are terminals, so that a command can ask for confirmation. */
  readonly interactive: boolean;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly now: () => Date;
  /** Returns what reaches the gateway at a URL; undefined, and by default, the network. */
  readonly transportTo?: (url: string) => Transport | undefined;
  /** Waits before a request is sent again; a timer by default. */
  readonly sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /**
   * Returns a signal that the first SIGINT or SIGTERM after this call aborts, instead of ending the process. The second one ends it,
   * after `beforeEnd`.
   */
  readonly interruptSignal: (beforeEnd?: () => void) => AbortSignal;
  /** Asks for confirmation; false for no, and when the prompt is canceled. */
  readonly confirm: (message: string) => Promise<boolean>;
  /** Asks for what people decided about a plan in comments; absent outside a job, where options alone decide. */
  readonly decide?: (plan: Plan) => Promise<PlanDecisions>;
  /** Whether the command line is for one of several targets, each of which has its own command line. */
  readonly oneOfSeveral?: boolean;
  /** What the forge of the job calls a pull request; absent outside a job. */
  readonly request?: ForgeRequest;
  /** The diagnostics that this run has printed; its end prints their counts. Without it, each list ends with its counts. */
  readonly printed?: PrintedDiagnostics;
  /** Receives every event at once: a secret before any text that contains it is printed. */
  readonly onEvent?: (event: CommandEvent) => void;
  /** Receives the JSON or SARIF document of a result instead of stdout; a run over several targets merges the documents. */
  readonly onDocument?: (document: JsonObject) => void;
};
