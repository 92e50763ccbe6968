/** The log of a job: text that nothing in it can command the runner with, and commands of ours beside it. */
export type JobLog = {
  readonly text: (text: string) => void;
  readonly command: (commands: string) => void;
  readonly close: () => void;
};

/** Opens the log on one stream; `token`, which nobody can guess, ends the parts in which the runner takes no commands. */
export function openJobLog(write: (text: string) => void, token: string): JobLog {
  let stopped = false;
  let atStart = true;
  const put = (text: string): void => {
    if (text === '') return;
    write(text);
    atStart = text.endsWith('\n');
  };
  const resume = (): void => {
    if (stopped) put(`${atStart ? '' : '\n'}::${token}::\n`);
    stopped = false;
  };
  return {
    text(text) {
      if (!stopped) put(`::stop-commands::${token}\n`);
      stopped = true;
      put(text);
    },
    command(commands) {
      resume();
      put(commands);
    },
    close: resume,
  };
}
