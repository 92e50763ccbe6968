import type { ApplyEvent } from '../../model/result/outcome.ts';
import type { ResourceId } from '../../model/resource.ts';
import { isWritten, type Action, type Plan } from '../../model/plan/plan.ts';
import { escapeTerminal } from '../../report/escape.ts';
import { clip } from '../../report/text/width.ts';
import type { OutputFlags } from '../flags.ts';
import type { CliContext } from '../context/cli-context.ts';

/** Shows how far an apply is. */
export type ProgressView = { readonly observe: (event: ApplyEvent) => void; readonly end: () => void };

const silent: ProgressView = { observe: () => undefined, end: () => undefined };

/** One line on a terminal, redrawn with every event; nothing elsewhere or with --quiet. */
export function progressOn(plan: Plan, flags: OutputFlags, context: CliContext): ProgressView {
  const { stderr } = context;
  if (!stderr.isTTY || flags.quiet) return silent;
  const total = plan.changes.filter(isWritten).length;
  const done = new Set<string>();
  const failed = new Set<string>();
  return {
    observe({ event, id }) {
      if (id === undefined) return;
      if (event === 'written') done.add(id);
      if (event === 'failed') failed.add(id);
      stderr.write(`\r\u001b[K${progressLine({ total, done: done.size, failed: failed.size, id }, stderr.columns ?? 80)}`);
    },
    end() {
      stderr.write('\r\u001b[K');
    },
  };
}

/** Says, once the run is to stop, that it does; what progress stands on the terminal makes room. */
export function tellStopping(signal: AbortSignal, flags: OutputFlags, { stderr }: CliContext): void {
  if (flags.quiet) return;
  const line = 'stopping: what is under way is finished; press Ctrl-C again to end at once\n';
  signal.addEventListener('abort', () => stderr.write(`${stderr.isTTY ? '\r\u001b[K' : ''}${line}`), { once: true });
}

/** Runs the work; after a second of it a terminal shows that it is going on. */
export async function waiting<T>(
  text: string,
  { flags, context }: { readonly flags: OutputFlags; readonly context: CliContext },
  work: () => Promise<T>,
): Promise<T> {
  if (!context.stderr.isTTY || flags.quiet) return work();
  const timer = setTimeout(() => context.stderr.write(`${text} …`), 1000);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    context.stderr.write('\r\u001b[K');
  }
}

/** Runs work of so many steps; after a second of it a terminal shows how far it is. */
export async function counted<T>(
  text: string,
  total: number,
  { flags, context, work }: { readonly flags: OutputFlags; readonly context: CliContext; readonly work: (step: () => void) => Promise<T> },
): Promise<T> {
  if (!context.stderr.isTTY || flags.quiet) return work(() => undefined);
  let done = 0;
  const timer = setInterval(() => context.stderr.write(`\r\u001b[K${text} … ${done} of ${total}`), 1000);
  try {
    return await work(() => {
      done += 1;
    });
  } finally {
    clearInterval(timer);
    context.stderr.write('\r\u001b[K');
  }
}

/** The progress of an apply. */
export type ApplyProgress = {
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  readonly action?: Action;
  readonly id?: ResourceId;
};

const doing: Readonly<Record<Action, string>> = {
  create: 'creating',
  update: 'updating',
  rename: 'renaming',
  delete: 'deleting',
  blocked: 'skipping',
  held: 'leaving',
};

/** Returns one line, no wider than the terminal: the counts, then the object that is being written. */
export function progressLine(progress: ApplyProgress, columns: number): string {
  const failed = progress.failed === 0 ? '' : `, ${progress.failed} failed`;
  const verb = progress.action === undefined ? '' : `${doing[progress.action]} `;
  const now = progress.id === undefined ? '' : `  ${verb}${escapeTerminal(progress.id)}`;
  return clip(`${progress.done}/${progress.total} done${failed}${now}`, columns);
}
