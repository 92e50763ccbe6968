import { adoptCodes, applyCodes, reviewCodes } from './change-codes.ts';
import { nameCodes } from './name-codes.ts';
import { planCodes } from './plan-codes.ts';
import { apiCodes, hoopCodes } from './gateway-codes.ts';
import { cliCodes, configCodes, serveCodes } from './command-codes.ts';
import { fieldCodes, manifestCodes } from './manifest-codes.ts';
import { gitCodes } from './git-codes.ts';
import { forgeCodes } from './forge-codes.ts';
import { policyCodes, ruleCodes, secretCodes } from './protection-codes.ts';

/** The codes of one area, under one heading of the page of diagnostics. */
type CatalogSection = { readonly title: string; readonly about?: string; readonly entries: Readonly<Record<string, CatalogEntry>> };

/** A code of a diagnostic, an error, a refusal or an outcome; the table of risks has the texts of risks. */
export type DiagnosticCode =
  | `risk/${string}`
  | keyof typeof adoptCodes
  | keyof typeof apiCodes
  | keyof typeof applyCodes
  | keyof typeof cliCodes
  | keyof typeof configCodes
  | keyof typeof fieldCodes
  | keyof typeof gitCodes
  | keyof typeof forgeCodes
  | keyof typeof hoopCodes
  | keyof typeof manifestCodes
  | keyof typeof nameCodes
  | keyof typeof planCodes
  | keyof typeof policyCodes
  | keyof typeof reviewCodes
  | keyof typeof ruleCodes
  | keyof typeof secretCodes
  | keyof typeof serveCodes;

/** The catalog in the order of the page of diagnostics. */
export const catalogSections: readonly CatalogSection[] = [
  { title: 'Command line and files', entries: cliCodes },
  { title: 'Config', entries: configCodes },
  { title: 'Manifests: files and YAML', entries: manifestCodes },
  { title: 'Adopting drift', about: 'See [Drift](../how-to/drift.md).', entries: adoptCodes },
  { title: 'Manifests: fields', entries: fieldCodes },
  { title: 'Manifests: names and attachments', entries: nameCodes },
  {
    title: 'Rules and their samples',
    about:
      'See [Test rules](../how-to/test-rules.md). `validate` reports all rules; `plan` and `apply` report the rules that they would write.',
    entries: ruleCodes,
  },
  { title: 'Secrets', about: 'See [Secrets](manifests.md#secrets).', entries: secretCodes },
  { title: 'Git', about: 'See [Base and drift](../explanation/base-and-drift.md).', entries: gitCodes },
  { title: 'Planning', about: 'A refusal that can be overridden says so: `--allow CODE=REASON`.', entries: planCodes },
  {
    title: 'Policies',
    about: 'See [Policies](../how-to/policies.md). Risks have their own codes: [Risks](risks.md).',
    entries: policyCodes,
  },
  { title: 'Applying', entries: applyCodes },
  {
    title: 'GitHub and GitLab',
    about:
      'Of the [action](../how-to/github.md) and [`ostiary ci`](../how-to/gitlab.md). A rejected comment or issue is a warning: the result of the run is still valid.',
    entries: forgeCodes,
  },
  { title: 'The gateway', entries: apiCodes },
  { title: 'Reviews', about: 'See [Reviews](../how-to/reviews.md).', entries: reviewCodes },
  {
    title: 'The public gateway',
    about:
      'Found before the first write, at the line in the manifest; see [The public gateway](hoop.md). A refusal (exit 6) means that the manifest is valid, but the gateway does not accept it in its present state.',
    entries: hoopCodes,
  },
  { title: 'Serving', about: 'See [ostiary serve](../how-to/serve.md).', entries: serveCodes },
];

/** Returns the texts of a code; undefined for the code of a risk. */
export function findCatalogEntry(code: DiagnosticCode): CatalogEntry | undefined {
  return catalogSections.find(({ entries }) => Object.hasOwn(entries, code))?.entries[code];
}

/** What a code means, why it occurs and what to do: the texts of the page of diagnostics, beside one message as an example. */
type CatalogEntry = {
  /** How the code is usually reported; an error unless it is set. */
  readonly level?: 'warning' | 'notice' | 'refusal';
  readonly meaning: string;
  readonly cause: string;
  readonly fix: string;
  readonly example: string;
};
