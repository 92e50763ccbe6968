/** Where text goes; `columns` is the terminal's width where there is one. */
export type Output = { readonly write: (text: string) => void; readonly isTTY: boolean; readonly columns: number | undefined };

/** Everything outside the program, as an argument. */
export type World = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether somebody sits at a terminal and can be asked. */
  readonly interactive: boolean;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly now: () => Date;
  /** From the first call on, the first SIGINT or SIGTERM aborts the signal instead of ending the process. */
  readonly interrupts: () => AbortSignal;
  /** Asks whoever sits at the terminal; false where they say no or go away. */
  readonly confirms: (message: string) => Promise<boolean>;
};
