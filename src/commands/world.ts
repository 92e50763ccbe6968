/** Where text goes; `columns` is the terminal's width where there is one. */
export type Output = { readonly write: (text: string) => void; readonly isTTY: boolean; readonly columns: number | undefined };

/** Everything outside the program, as an argument. */
export type World = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly now: () => Date;
  /** Aborted on the first SIGINT or SIGTERM. */
  readonly interrupted: AbortSignal;
};
