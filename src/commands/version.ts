import { isSea } from 'node:sea';
import { toJsonText } from '../report/serialize.ts';
import { version } from './context/version.ts';
import type { DefineCommand } from './context/options.ts';
import { printerFor } from './output/printer.ts';

/** Defines `ostiary version`. */
export const defineVersion: DefineCommand = (command, run) => {
  command.option('--json', 'print a JSON object', false).action((flags) =>
    run((context) => {
      const { print } = printerFor(context, flags);
      print(flags.json ? toJsonText(describeBuild()) : `${version}\n`);
      return Promise.resolve(0);
    }),
  );
};

/** Returns what a report about a problem needs: the version, how Ostiary was installed, and what it runs on. */
function describeBuild(): { readonly [name: string]: string } {
  return {
    version,
    build: isSea() ? 'executable' : 'package',
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
  };
}
