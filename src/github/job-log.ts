import { randomUUID } from 'node:crypto';

/** The log of a job: `text` cannot contain workflow commands, `command` writes our own. */
export type JobLog = {
  readonly text: (text: string) => void;
  readonly command: (commands: string) => void;
  readonly close: () => void;
};

/** Opens the log on one stream; the secret `token` ends the parts in which the runner ignores commands. */
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

/** Returns the commands that mask a secret in the log: the value, each of its lines, and its base64 form. */
export function maskCommands(secret: string | Uint8Array): string {
  const bytes = Buffer.from(secret);
  const text = bytes.toString();
  const values = new Set([text, bytes.toString('base64'), ...text.split(/\r\n|\r|\n/)].map((value) => value.trim()));
  return [...values].flatMap((value) => (value === '' ? [] : [`::add-mask::${escapeCommandValue(value)}\n`])).join('');
}

/** Escapes exactly what the runner decodes: any other escape would mask another text. */
function escapeCommandValue(value: string): string {
  return value.replace(/[%\r\n]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

/** Formats outputs for the runner's file; a random delimiter keeps a value from ending its entry. */
export function outputLines(outputs: Readonly<Record<string, string>>): string {
  const delimiter = `ostiary-${randomUUID()}`;
  return Object.entries(outputs)
    .map(([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`)
    .join('');
}
