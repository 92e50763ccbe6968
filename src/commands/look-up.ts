import type { Checked } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import type { Service } from '../model/service.ts';
import { diagnosticsText } from '../report/text/diagnostics.ts';
import { toJsonText, toYamlText } from '../report/serialize.ts';
import { agentListing, resourceListing, reviewListing, templateListing, type TableListing } from '../report/text/listings.ts';
import { tableText } from '../report/text/table.ts';
import type { ViewFlags, ViewFormat } from './flags.ts';
import { connectService, requireWhole } from './live.ts';
import { printerFor, type Printer } from './printer.ts';
import { waiting } from './progress.ts';
import type { CliContext } from './cli-context.ts';

/** What was looked up: as a document, and as a table. */
type LookUpResult = Checked<unknown> & { readonly document: Json; readonly listing: TableListing };

type LookUp = (service: Service, context: CliContext) => Promise<LookUpResult>;

const readersByName: Readonly<Record<string, LookUp>> = {
  async resources(service) {
    const [read, agents] = await Promise.all([service.resources(), service.agents()]);
    const resources = requireWhole(read);
    return { ...read, document: resources, listing: resourceListing(resources, agents.value ?? []) };
  },
  async templates(service) {
    const read = await service.templates();
    const templates = requireWhole(read);
    return { ...read, document: templates, listing: templateListing(templates) };
  },
  async reviews(service, { now }) {
    const read = await service.reviews();
    const reviews = requireWhole(read);
    const secondsSince = (time: string): number => (now().getTime() - Date.parse(time)) / 1000;
    return { ...read, document: reviews, listing: reviewListing(reviews, secondsSince) };
  },
  async agents(service) {
    const read = await service.agents();
    const agents = requireWhole(read);
    return { ...read, document: agents, listing: agentListing(agents) };
  },
};

/** What can be looked up that is no kind of manifest. */
export const lookUpNames: readonly string[] = Object.keys(readersByName);

/** Lists something that is no kind of manifest, as far as the caller may see it. */
export async function lookUp(what: string, flags: ViewFlags, context: CliContext): Promise<number> {
  const printer = printerFor(context, flags);
  const service = await connectService({ flags, context });
  try {
    const looked = await waiting('reading the gateway', { flags, context }, async () => readersByName[what]?.(service, context));
    if (looked === undefined) throw new Error(`nobody looks up ${what}`);
    if (looked.diagnostics.length > 0) printer.hint(diagnosticsText(looked.diagnostics, printer.errors));
    printView(looked, flags.format, printer);
    return 0;
  } finally {
    await service.close();
  }
}

/** Prints a document in the format that was asked for; as text it is a table. */
export function printView(
  { document, listing: { headers, rows } }: { readonly document: Json; readonly listing: TableListing },
  format: ViewFormat,
  { print, results }: Printer,
): void {
  if (format === 'text') print(tableText(headers, rows, results.columns));
  else print(format === 'json' ? toJsonText(document) : toYamlText(document));
}
