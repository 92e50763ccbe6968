import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Drift } from '../../model/result/drift.ts';
import type { ApplyResult } from '../../model/result/outcome.ts';
import type { Plan } from '../../model/plan/plan.ts';

/** Where text goes; `columns` is the terminal's width where there is one. */
export type Output = { readonly write: (text: string) => void; readonly isTTY: boolean; readonly columns: number | undefined };

/** Something that a command found, for who tells of it elsewhere than on a terminal. */
export type CommandEvent =
  | { readonly secret: string | Uint8Array }
  | { readonly diagnostics: readonly Diagnostic[] }
  | { readonly plan: Plan; readonly result?: ApplyResult }
  | { readonly drift: Drift }
  /** The file that a plan was saved in. */
  | { readonly saved: string };

/** Everything outside the program, as an argument. */
export type CliContext = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether somebody sits at a terminal and can be asked. */
  readonly interactive: boolean;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly now: () => Date;
  /** From the first call on, the first SIGINT or SIGTERM aborts the signal instead of ending the process. */
  readonly interruptSignal: () => AbortSignal;
  /** Asks whoever sits at the terminal; false where they say no or go away. */
  readonly confirm: (message: string) => Promise<boolean>;
  /** Whether the command line is for one target of several, each of which has a command line of its own. */
  readonly oneOfSeveral?: boolean;
  /** Hears every event at once: a secret before anything is printed that was made with it. */
  readonly onEvent?: (event: CommandEvent) => void;
};
