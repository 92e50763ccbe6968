import { Argument } from 'commander';
import { didYouMean } from '../model/diagnostic.ts';
import { UsageError } from '../model/errors.ts';
import type { DefineCommand } from './context/options.ts';
import { printerFor } from './output/printer.ts';
import { exampleDocument, exampleKinds } from '../project/templates/example-documents.ts';

/** Defines `ostiary schema`. */
export const defineSchema: DefineCommand = (command, run) => {
  command
    .addArgument(new Argument('<kind>', 'the kind of a manifest').choices([...exampleKinds]).argParser(kindNamed))
    .action((kind: string, flags) =>
      run((context) => {
        printerFor(context, flags).print(exampleDocument(kind));
        return Promise.resolve(0);
      }),
    );
};

/** Returns the kind that a word names in upper or lower case. Throws UsageError for none. */
function kindNamed(word: string): string {
  const plain = word.toLowerCase().replaceAll(/[-_]/g, '');
  const kind = exampleKinds.find((one) => one.toLowerCase() === plain);
  if (kind !== undefined) return kind;
  throw new UsageError(`unknown kind "${word}"`, didYouMean(word, exampleKinds) ?? `kinds: ${exampleKinds.join(', ')}`);
}
