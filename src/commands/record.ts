import { Argument } from 'commander';
import { createFile } from '../disk/write.ts';
import { UsageError } from '../model/errors.ts';
import { newRecordKey } from '../project/record/record-signature.ts';
import { outputPath } from '../project/resolved-config.ts';
import type { CliContext } from './context/cli-context.ts';
import type { DefineCommand, OutputFlags } from './context/options.ts';
import { printerFor } from './output/printer.ts';

type RecordFlags = OutputFlags & { readonly out?: string };

/** Defines `ostiary record`. */
export const defineRecord: DefineCommand = (command, run) => {
  command
    .addArgument(new Argument('<what>', 'key: a new record key').choices(['key']))
    .option('--out <file>', 'write the private half to this new file, which only you can read, instead of stdout')
    .addHelpText(
      'after',
      `
The private half is on stdout, the public half and the next steps on stderr:
  ostiary record key | gh secret set OSTIARY_RECORD_KEY --env production`,
    )
    .action((_what, flags) => run((context) => runRecord(flags, context)));
};

/** Makes a record key. Throws UsageError where a log would keep the private half. */
function runRecord(flags: RecordFlags, context: CliContext): Promise<number> {
  const { print, note } = printerFor(context, flags);
  if (flags.out === undefined && context.env['GITHUB_ACTIONS'] === 'true')
    throw new UsageError('the log of this job would keep the private half', 'run it on your machine, or pass --out FILE');
  const { secret, key } = newRecordKey();
  if (flags.out === undefined) print(`${secret}\n`);
  else if (!createFile(outputPath(flags.out, context), `${secret}\n`, 0o600))
    throw new UsageError(`the file "${flags.out}" exists`, 'name a new file');
  note(
    `\nNext:\n  1. Store the private half as the secret OSTIARY_RECORD_KEY of the job that applies, and nowhere else.\n  2. Apply once, which signs the record.\n  3. Merge this into ostiary.yaml:\n       record:\n         keys: [${key}]\n`,
  );
  return Promise.resolve(0);
}
