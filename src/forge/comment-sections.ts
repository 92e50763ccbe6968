import { createHash } from 'node:crypto';
import type { Diagnostic } from '../model/diagnostic.ts';
import { AppError } from '../model/errors.ts';
import type { Comment, Forge } from './forge.ts';
import { markerOf } from './sticky-body.ts';
import { onlyOurs, sameText, stickyLimit } from './sticky-posts.ts';

/** The sections of a comment by the marks of their names. */
type Sections = ReadonlyMap<string, string>;

/** A section that a run writes. */
export type SectionUpdate = {
  /** Identifies the section in its comment. */
  readonly name: string;
  /** Makes the text; `previous` is that of the section, if there is one. */
  readonly textAfter: (previous: string | undefined) => string;
  /** The text is not worth a new section; only an existing one is updated. */
  readonly onlyUpdate: boolean;
};

/** A comment that several jobs update, each in sections of its own. */
export type SectionedComment = {
  readonly number: number;
  /** Identifies the comment: the same for every job of one purpose. */
  readonly key: readonly string[];
  /** The names of all sections in their order: any other one is removed. Undefined if they are not known. */
  readonly names: readonly string[] | undefined;
  readonly updates: readonly SectionUpdate[];
};

type Comments = Pick<Forge, 'whoAmI' | 'comments' | 'latestOf' | 'createComment' | 'updateComment' | 'deleteComment'>;

const anyMark = /^<!-- ostiary section ([0-9a-f]{32}) -->$/;

function markOf(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 32);
}

/** Returns the most characters of each of so many sections, whatever the others contain. */
export function sectionLimit(count: number): number {
  return Math.floor(stickyLimit / Math.max(count, 1)) - 100;
}

/** Returns the text of a section of a comment; undefined if it has none of that name. */
export function sectionOf(body: string, name: string): string | undefined {
  return readSections(body).get(markOf(name));
}

function readSections(body: string): Sections {
  const found = new Map<string, string[]>();
  let lines: string[] | undefined;
  const [first = '', ...rest] = body.replaceAll('\r\n', '\n').split('\n');
  for (const line of [first, ...rest]) {
    const [, mark] = anyMark.exec(line) ?? [];
    if (mark === undefined) lines?.push(line);
    else found.set(mark, (lines = []));
  }
  const [whole] = found.values();
  if (first.startsWith('#')) whole?.splice(hiddenLines(whole), 0, first);
  return new Map([...found].map(([mark, text]) => [mark, text.join('\n').trimEnd()]));
}

/** Returns the number of hidden lines that a section begins with. */
function hiddenLines(lines: readonly string[]): number {
  const visible = lines.findIndex((line) => !line.startsWith('<!-- '));
  return visible === -1 ? lines.length : visible;
}

/** Returns a section as a comment keeps it. No text of a report can begin another section: an invisible word joiner is in its mark. */
function keptSection(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll('<!-- ostiary section', '<!-- ostiary\u{2060} section').trimEnd();
}

/** Returns the comment. The heading of the first section is above all marks, because previews show the first line. */
function writeSections(key: readonly string[], sections: Sections): string {
  const texts = [...sections].map(([mark, text]) => ({ mark, lines: text.split('\n') }));
  const [{ lines } = { lines: [] }] = texts;
  const [heading] = lines[hiddenLines(lines)]?.startsWith('#') === true ? lines.splice(hiddenLines(lines), 1) : [];
  const all = texts.map((one) => `<!-- ostiary section ${one.mark} -->\n${one.lines.join('\n')}\n`);
  return `${heading === undefined ? '' : `${heading}\n`}${markerOf(key)}\n${all.join('\n')}`;
}

/** The most times that a job writes a comment, because others write it at the same time. */
const attempts = 8;

/**
 * Updates sections of our comment or creates it, and keeps those of other jobs. A forge has no update on condition, so a job that writes
 * at the same time can put the earlier text of a section back: each job reads the comment again, and restores what is its own. Of
 * several comments, the first one remains, with all sections. A comment that another account edited keeps no section of another job.
 */
export async function keepSections(
  forge: Comments,
  comment: SectionedComment,
  sleep: (milliseconds: number) => Promise<void>,
): Promise<readonly Diagnostic[]> {
  const { number, key, names = [], updates } = comment;
  const writer: SectionWriter = {
    forge,
    comment,
    own: updates.map((one): OwnSection => ({
      ...one,
      mark: markOf(one.name),
      written: undefined,
      replaced: new Set<string | undefined>(),
    })),
    gone: new Set(),
  };
  const editors = new Set<string>();
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const ours = (await onlyOurs(forge, key, await forge.comments(number))).filter(({ id }) => !writer.gone.has(id));
    const isDone = await writeOnce(writer, ours, { isFirst: attempt === 0, editors });
    if (isDone === true) return [...editors].map((editor) => editedComment(number, editor));
    // Jobs that started together do not repair together.
    const turn = (Math.max(names.indexOf(updates[0]?.name ?? ''), 0) + attempt * 3) % 10;
    if (isDone === 'when read again') await sleep(settling + turn * step);
  }
  throw new AppError('forge/overwritten', 4, `other jobs replaced the comment on ${number} again and again (${attempts} times)`, {
    hint: 'run the job again',
  });
}

type SectionWriter = {
  readonly forge: Comments;
  readonly comment: SectionedComment;
  readonly own: readonly OwnSection[];
  /** The comments that this job deleted, or that the forge keeps. */
  readonly gone: Set<number>;
};

/** Writes the comment with our sections unless it has them; returns whether that is all, or another job can have written at the same time. */
async function writeOnce(
  { forge, comment, own, gone }: SectionWriter,
  ours: readonly Comment[],
  { isFirst, editors }: { readonly isFirst: boolean; readonly editors: Set<string> },
): Promise<boolean | 'when read again'> {
  const { number, key, names = [] } = comment;
  const [first, ...others] = ours.toSorted((left, right) => left.id - right.id);
  try {
    const found = await carriedSections(forge, first === undefined ? [] : [first, ...others], own);
    if (found.editor !== undefined) editors.add(found.editor);
    const sections = new Map(found.sections);
    const isLost = own.map((one) => restore(one, sections)).includes(true);
    if (sections.size === 0 || (!isFirst && !isLost && others.length === 0)) return true;
    const whole = writeSections(key, fitted(inOrder(sections, comment), own));
    if (first === undefined) await forge.createComment(number, whole);
    else if (!sameText(first.body, whole)) await forge.updateComment(number, first.id, whole);
    else if (others.length === 0) return true;
    for (const { id } of others) {
      gone.add(id);
      await deleteIfThere(forge, number, id);
    }
    if (names.length > 1 || sections.size > own.length) return 'when read again';
    return first !== undefined;
  } catch (error) {
    // Another job can have moved the sections of a comment, and deleted it.
    const left = new Set((await forge.comments(number)).map(({ id }) => id));
    if (ours.every(({ id }) => left.has(id))) throw error;
    return false;
  }
}

/** The time in which an update of another job arrives, and the difference between two jobs, in milliseconds. */
const settling = 1000;
const step = 200;

/** A section of this job, with the text that it wrote, and the texts that it replaced: if one of these returns, its own was lost. */
type OwnSection = SectionUpdate & { readonly mark: string; written: string | undefined; readonly replaced: Set<string | undefined> };

/** Puts the text of this job into its section; returns whether it was missing. What another run of the same job wrote later stays. */
function restore(own: OwnSection, sections: Map<string, string>): boolean {
  const previous = sections.get(own.mark);
  if (own.onlyUpdate && previous === undefined) return false;
  if (own.written === undefined) {
    own.written = keptSection(own.textAfter(previous));
    own.replaced.add(previous);
  }
  if (previous === own.written || !own.replaced.has(previous)) return false;
  sections.set(own.mark, own.written);
  return true;
}

type CarriedSections = { readonly sections: Sections; readonly editor?: string };

/** Returns the sections of our comments; the later of two comments decides. Those of other jobs count only as this account wrote them. */
async function carriedSections(
  forge: Comments,
  ours: readonly Comment[],
  own: readonly Pick<OwnSection, 'mark'>[],
): Promise<CarriedSections> {
  const sections = new Map<string, string>();
  const marks = new Set(own.map(({ mark }) => mark));
  let editor: string | undefined;
  for (const one of ours) {
    const isShared = [...readSections(one.body).keys()].some((mark) => !marks.has(mark));
    // Its text and its editor, as they are at one time.
    const latest = isShared ? await forge.latestOf(one) : { body: one.body, editor: undefined };
    const isOurs = latest.editor === undefined || latest.editor.toLowerCase() === one.author.toLowerCase();
    if (!isOurs) editor = latest.editor;
    for (const [mark, text] of readSections(latest.body)) if (isOurs || marks.has(mark)) sections.set(mark, text);
  }
  return { sections, ...(editor === undefined ? {} : { editor }) };
}

function editedComment(number: number, editor: string): Diagnostic {
  return {
    code: 'forge/edited',
    severity: 'warning',
    message: `${editor} edited the comment on ${number}, so the sections of other jobs were removed from it`,
    hint: 'run the other jobs again',
  };
}

/** Returns the sections in the order of their names, without those that no name has. */
function inOrder(sections: Sections, { names, updates }: SectionedComment): Sections {
  if (names === undefined) return sections;
  const marks = [...new Set([...names, ...updates.map(({ name }) => name)])].map(markOf);
  return new Map(marks.flatMap((mark) => (sections.has(mark) ? [[mark, sections.get(mark) ?? ''] as const] : [])));
}

/** Returns sections that fit into one comment: if they do not, those that are longer than their share keep only their first lines. */
function fitted(sections: Sections, own: readonly Pick<OwnSection, 'mark'>[]): Sections {
  const total = [...sections.values()].reduce((sum, text) => sum + text.length + 100, 0);
  if (total <= stickyLimit) return sections;
  const share = sectionLimit(Math.max(sections.size, own.length));
  return new Map([...sections].map(([mark, text]) => [mark, text.length <= share ? text : shortened(text, share)]));
}

/** Returns the hidden line and the heading of a section. */
function shortened(text: string, share: number): string {
  const lines = text.split('\n');
  const heading = lines.findIndex((line) => line.startsWith('#'));
  const note = '**Shortened to fit:** the summary of the job has the report.';
  const top = lines.slice(0, heading + 1).join('\n');
  return `${top.slice(0, share - note.length - 2)}\n\n${note}`;
}

/** Deletes a comment that another job can have deleted. */
async function deleteIfThere(forge: Pick<Forge, 'deleteComment'>, number: number, id: number): Promise<void> {
  try {
    await forge.deleteComment(number, id);
  } catch (error) {
    // A 404.
    if (!(error instanceof AppError) || error.code !== 'forge/forbidden') throw error;
  }
}
