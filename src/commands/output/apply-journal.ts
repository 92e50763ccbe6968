import { openJournal } from '../../disk/journal.ts';
import { AppError } from '../../model/errors.ts';
import type { ApplyEvent, JournalEntry, RequestEvent } from '../../model/result/outcome.ts';
import { escapeTerminal } from '../../report/escape.ts';
import { absolutePath } from '../../project/resolved-config.ts';
import type { CliContext } from '../context/cli-context.ts';

export type ApplyJournal = {
  readonly write: (event: ApplyEvent) => void;
  readonly request: (event: RequestEvent) => void;
  readonly close: () => void;
};

/** Opens the journal of `--journal`. An error of a later write is reported once, and the apply continues without a journal. */
export function openApplyJournal(path: string | undefined, context: CliContext): ApplyJournal {
  const journal = path === undefined ? undefined : openJournal(absolutePath(path, context));
  let broken = false;
  const attempt = (action: () => void): void => {
    if (broken) return;
    try {
      action();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      broken = true;
      context.stderr.write(`warning ${error.code}  ${escapeTerminal(error.message)}; the apply goes on without it\n`);
    }
  };
  const append = (entry: JournalEntry): void => attempt(() => journal?.append(JSON.stringify(entry)));
  const at = (): string => context.now().toISOString();
  return {
    write: (event) => append({ at: at(), ...event }),
    request: (event) => append({ at: at(), event: 'request', ...event }),
    close() {
      attempt(() => journal?.close());
      // Responses that arrive later belong to no apply.
      broken = true;
    },
  };
}
