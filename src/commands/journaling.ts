import { openJournal } from '../disk/journal.ts';
import { AppError } from '../model/errors.ts';
import type { JournalEntry } from '../model/outcome.ts';
import { escapeTerminal } from '../report/escape.ts';
import { absolute } from './setting.ts';
import type { World } from './world.ts';

export type Journaling = { readonly write: (event: Omit<JournalEntry, 'at'>) => void; readonly close: () => void };

/** Opens the journal that was asked for; one that fails later is told of once, and the apply goes on without it. */
export function journalTo(path: string | undefined, world: World): Journaling {
  const journal = path === undefined ? undefined : openJournal(absolute(path, world));
  let broken = false;
  const attempt = (action: () => void): void => {
    if (broken) return;
    try {
      action();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      broken = true;
      world.stderr.write(`warning ${error.code}  ${escapeTerminal(error.message)}; the apply goes on without it\n`);
    }
  };
  return {
    write: (event) => attempt(() => journal?.append(JSON.stringify({ at: world.now().toISOString(), ...event }))),
    close: () => attempt(() => journal?.close()),
  };
}
