import type { Diagnostic, Position, Severity } from '../model/diagnostic.ts';
import type { JsonObject } from '../model/json.ts';

/** The effects on protection, as formats color and name them, the worst first. */
export const effectClasses = ['weakens', 'both', 'unknown', 'exposes', 'reroutes', 'availability', 'strengthens', 'neutral'] as const;

export type EffectClass = (typeof effectClasses)[number];

/** Each effect in words; color is never the only signal. */
export const verdictWords: Readonly<Record<EffectClass, string>> = {
  weakens: 'weaker',
  both: 'mixed',
  unknown: 'cannot be compared',
  exposes: 'without review',
  reroutes: 'credentials or code rerouted',
  availability: 'availability',
  strengthens: 'stronger',
  neutral: 'no effect',
};

/** What happens to an entry: it is created, changed, deleted, cannot be written, or stays as it is. */
export type Sign = '+' | '~' | '-' | '!' | '=';

/** A value of a field: unsigned, added or removed; or a change from one value to another. */
export type RowPart =
  | { readonly sign: '' | '+' | '-'; readonly text: string }
  | { readonly sign: '~'; readonly before: string; readonly after: string };

/** A field with its values; escaped. */
export type FieldRow = {
  readonly label: string;
  readonly parts: readonly RowPart[];
  /** The origin, unless it is clear. */
  readonly note: string;
  /** The field of a whole object protects nothing: text counts it. */
  readonly isMinor?: boolean;
};

/** A fact beside the fields: what is added or removed, or a remark of less importance; escaped. */
export type EntryLine = { readonly sign: '+' | '-' | '!' | ' '; readonly text: string };

/** A thing with what differs in it. */
export type Entry = {
  readonly name: string;
  readonly sign: Sign;
  /** What happens to it, where the sign does not say that; escaped. */
  readonly note: string;
  /** The line that changes, or where it is declared. */
  readonly at?: Position | undefined;
  readonly effect: EffectClass;
  /** The effect in words; empty text if there is none; escaped. */
  readonly risk: string;
  readonly fields: readonly FieldRow[];
  readonly lines: readonly EntryLine[];
  readonly warnings: readonly Diagnostic[];
};

/** A list of things that differ. */
export type RowsBlock = {
  readonly type: 'rows';
  /** Empty if a report has no other rows. */
  readonly title: string;
  /** What they do together. */
  readonly headlines?: LinesBlock;
  readonly entries: readonly Entry[];
  /** Text and Markdown show a line each, without values. */
  readonly isShort?: boolean;
  /** How early entries and their details are left out for length. */
  readonly rank: { readonly row: number; readonly detail: number };
};

/** A line of prose, with marks (marks.ts) for names, codes and places; two spaces separate facts. */
export type Line = {
  readonly text: string;
  /** The color of what is strong in it. */
  readonly effect?: EffectClass;
  /** Where it is from or decided. */
  readonly aside?: string;
  /** Advice, a line each. */
  readonly below?: readonly string[];
  /** What the line is about, where that is more than one thing. */
  readonly places?: readonly Pick<Diagnostic, 'resource' | 'at'>[];
  /** Lines that are only printed in full. */
  readonly full?: readonly string[];
  /** The verdict states the same; text leaves it out, and Markdown where it shows the verdict. */
  readonly isInVerdict?: boolean;
  /** A short report leaves it out if it is not among the first ones. */
  readonly isMinor?: boolean;
  /** Many lines with the same text are folded. */
  readonly likeness?: string;
};

/** Lines about one question. */
export type LinesBlock = {
  readonly type: 'lines';
  readonly part: 'refusals' | 'notices' | 'headlines' | 'permissions' | 'replay' | 'allowances' | 'warnings' | 'facts';
  readonly title?: string;
  readonly lines: readonly Line[];
  /** How many lines a report has, and a short one; the sentence about the others. */
  readonly most?: { readonly whole: number; readonly short: number; readonly text: (more: number) => string };
  /** The order in which lines are left out for length, and what a note calls them. */
  readonly rank: number;
  readonly label: string;
};

/** What happened to one thing. */
export type Result = {
  readonly name: string;
  /** What happened, in one word, and its sign; without one, nothing did. */
  readonly word: string;
  readonly sign?: Sign;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly hint?: string | undefined;
  /** A short report names it first, with its reason. */
  readonly isFailure: boolean;
  /** The order in which results are left out for length; the lowest stay longest. */
  readonly order: number;
};

/** What happened. */
export type ResultsBlock = {
  readonly type: 'results';
  readonly results: readonly Result[];
};

/** Headers and rows of a table, and the lines below each row. */
export type TableListing = {
  readonly headers: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly details?: readonly (readonly string[])[];
  /** Cells continue on the next line instead of losing their ends; such a table has no details. */
  readonly wraps?: boolean;
};

/** People in some groups, or everybody but those in others, and for which verbs a row is about them on a connection. */
export type RowPeople = {
  readonly connection: string;
  readonly verbs: readonly string[];
  readonly groups?: readonly string[] | undefined;
  readonly except?: readonly string[] | undefined;
};

/** How a page finds a row or a fold: by words, by people, and by its effect; `same`: nothing changes. */
export type Findable = {
  readonly search?: string;
  readonly people?: RowPeople;
  readonly direction?: EffectClass | 'same' | undefined;
};

/** A cell: lines below each other, with marks; their look, and what a short text stands for. */
export type TableCell =
  | string
  | { readonly lines: readonly string[]; readonly look?: EffectClass | 'quiet' | 'none'; readonly title?: string };

/** A row of a table; text has its color, and what follows below it, with marks. */
export type TableRow = Findable & {
  readonly cells: readonly TableCell[];
  /** Its only cell is about the rows of a group, or about the rest of them. */
  readonly heads?: 'group' | 'rest';
  readonly effect?: EffectClass | undefined;
  readonly below?: readonly string[];
};

/** A table of a document. */
export type TableBlock = {
  readonly type: 'table';
  /** Tables without one are lists of fields. */
  readonly look?: 'access' | 'permissions' | 'picture';
  readonly title?: string;
  readonly caption?: string;
  readonly headers: readonly string[];
  readonly rows: readonly TableRow[];
  readonly more?: string;
  /** A page offers a choice of one of its people, connections and verbs. */
  readonly verbs?: readonly string[];
};

/** A page about one table. */
export type TablePage = { readonly title: string; readonly lead: string; readonly table: TableBlock; readonly data?: JsonObject };

/** A line that unfolds a table. */
export type Fold = Findable & { readonly summary: string; readonly table: TableBlock };

/** Tables below a title, each folded, about one connection each; those beyond the first ones are in one fold, which counts them. */
export type FoldsBlock = {
  readonly type: 'folds';
  readonly title: string;
  readonly folds: readonly Fold[];
  readonly more?: string;
};

/** A message at a line of a pull request's files. */
export type Annotation = {
  readonly severity: Severity;
  readonly title: string;
  readonly message: string;
  readonly at?: Position | undefined;
};

/** What a run found, for formats that list findings at lines of files. */
export type FindingsBlock = {
  readonly type: 'findings';
  /** Each once, sorted by position. */
  readonly diagnostics: readonly Diagnostic[];
  readonly annotations: () => readonly Annotation[];
  readonly version: string;
  /** Returns the repository path of a file that diagnostics name; undefined for a file outside the repository. */
  readonly pathOf: (file: string) => string | undefined;
  /** The file of findings without a position: code scanning requires one. */
  readonly fallback: string;
};

/** One try of a check, and its result. */
export type Case = {
  readonly at: Position;
  /** As a test report names it; people read the title. */
  readonly name: string;
  readonly title: string;
  readonly result: 'passed' | 'failed' | 'skipped';
  /** What happened, beside the title; below it, what was expected and why. */
  readonly beside: string;
  readonly below: readonly string[];
  /** The same for a test report: the code of a failure, why it failed, and all of it. */
  readonly code: string;
  readonly why: string;
  readonly body: string;
};

/** The cases of one check; one without cases is skipped. */
export type Suite = { readonly name: string; readonly title: string; readonly at: Position; readonly cases: readonly Case[] };

/** Checks and their cases, by target, with what no case tries. */
export type CasesBlock = {
  readonly type: 'cases';
  /** Absent if there is only one. */
  readonly heading?: string;
  readonly suites: readonly Suite[];
  readonly lists: readonly { readonly title: string; readonly entries: readonly string[] }[];
};

/** A list of names or sentences. */
export type ListBlock = {
  readonly type: 'list';
  readonly title: string;
  readonly entries: readonly string[];
  /** Each entry needs a line. */
  readonly hasSentences: boolean;
  /** How early it is left out for length. */
  readonly rank: number;
};

/** What a person can do: a command, and what it changes. */
export type Choice = {
  readonly goal: string;
  readonly command: string;
  readonly text: string;
  /** It happens also if no person chooses. */
  readonly isDefault?: true;
};

export type ChoicesBlock = { readonly type: 'choices'; readonly choices: readonly Choice[] };
