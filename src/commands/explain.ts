import { registry } from '../kinds/index.ts';
import { UsageError } from '../model/errors.ts';
import { kindOf, nameOf, resourceId } from '../model/resource.ts';
import { suggest, didYouMean } from '../model/diagnostic.ts';
import type { ExplanationRow } from '../model/result/drift.ts';
import { fieldName, type KindNames, respellPath, respellSide } from '../model/spec/spelling.ts';
import { spellingOf } from '../gateway/dialects/choose-dialect.ts';
import { differingRows, explain as explainResource } from '../reconcile/explain/explain.ts';
import { connectionRules } from '../protection/posture/diff-postures.ts';
import { explainDocument } from '../report/subjects/explain.ts';
import { codeText } from '../report/text/code.ts';
import { plural } from '../report/wording/phrases.ts';
import { toJsonText } from '../report/serialize.ts';
import { riskCodes } from '../protection/risk/risk-codes.ts';
import { formatsFor } from '../report/formats.ts';
import { emit } from './output/emit.ts';
import type { PlanBaseOptions } from '../project/plan-base.ts';
import {
  type Format,
  type PlanFlags,
  type TargetFlags,
  baseOptions,
  cacheOption,
  formatOption,
  secretsOption,
  groups,
  targetOptions,
  todayOption,
  type DefineCommand,
} from './context/options.ts';
import { openProject } from '../project/open-project.ts';
import { createPlan } from './planning/create-plan.ts';
import { policyResultsOf } from './planning/target-policies.ts';
import { announceTarget } from './session/connect.ts';
import { printerFor } from './output/printer.ts';
import type { CliContext } from './context/cli-context.ts';

type ExplainFlags = TargetFlags &
  PlanBaseOptions &
  Pick<PlanFlags, 'secrets' | 'today'> & {
    readonly resource: string;
    readonly field?: string;
    /** Without a field: also the fields that do not differ. */
    readonly all: boolean;
    readonly format: Format;
  };

/** Defines `ostiary explain`. */
export const defineExplain: DefineCommand = (command, run) => {
  command
    .argument('<resource>', 'KIND/NAME, or the code of a message, such as git/no-record')
    .argument('[field]', 'a field, such as reviewers');
  baseOptions(cacheOption(targetOptions(command)))
    .addOption(formatOption(formatsFor('explain', 'print')))
    .addOption(todayOption())
    .addOption(secretsOption())
    .optionsGroup(groups.own)
    .option('--all', 'print all fields, not only those that differ', false)
    .action((resource, field, flags) => run((context) => runExplain({ ...flags, resource, field }, context)));
};

/** Explains for each field of an object why the plan changes it or does not; without a field, for those that differ. */
async function runExplain(flags: ExplainFlags, context: CliContext): Promise<number> {
  if (/^[a-z]+\/[a-z0-9-]+$/.test(flags.resource)) return explainCode(flags, context);
  const [kindName = '', ...rest] = flags.resource.split('/');
  const kind = registry.get(kindName);
  const id = resourceId(kindName, rest.join('/'));
  if (kind === undefined || nameOf(id) === '') {
    const near = suggest(kindName, registry.keys());
    throw new UsageError(
      `invalid resource "${flags.resource}": expected KIND/NAME`,
      near === undefined ? `kinds: ${[...registry.keys()].join(', ')}` : `did you mean "${near}/${nameOf(id)}"?`,
    );
  }
  const project = await openProject(flags, context);
  const spelling = spellingOf(project.config.targets);
  const own = spelling?.toManifest.get(kindName);
  const asked = flags.field === undefined || own === undefined ? flags.field : fieldName(own, flags.field);
  const fieldNames = kind.fields.map(({ name }) => name);
  if (asked !== undefined && flags.field !== undefined && !fieldNames.includes(asked)) {
    throw new UsageError(
      `unknown field "${flags.field}" of ${kindName}`,
      didYouMean(flags.field, fieldNames) ?? `fields: ${fieldNames.join(', ')}`,
    );
  }
  const planned = await createPlan(project, { ...flags, allow: [], import: [], revert: [] }, context, { purpose: 'preview' });
  const { plan, desired, live, base, gateway } = planned;
  await gateway.close();
  announceTarget(project, flags, context);
  const explanation = explainResource({ id, kind, desired, live, base, plan, registry, field: asked });
  if (explanation === undefined) {
    throw new UsageError(
      `${id} exists neither in the manifests nor on the gateway`,
      didYouMean(
        id,
        [...desired.resources.map((one) => one.id), ...live.resources.map((one) => one.id)].filter((one) => kindOf(one) === kindName),
      ) ?? 'check the name; ostiary list prints the managed objects',
    );
  }
  const policies = flags.field === undefined ? await policyResultsOf(id, planned) : [];
  const nothing = flags.field === undefined || explanation.rows.length > 0 ? '' : `; ${flags.field} has no desired and no live value`;
  const summary = `${explanation.summary}${nothing}`;
  const rules = flags.field === undefined ? connectionRules(id, planned.snapshots(), desired) : [];
  const listed = flags.field === undefined && !flags.all ? differingRows(explanation.rows) : explanation.rows;
  const names = spelling?.toGateway.get(kindName);
  const rows = names === undefined ? listed : listed.map((row) => respellRow(row, names));
  const complete = {
    ...explanation,
    rows,
    summary,
    ...(rules.length === 0 ? {} : { rules }),
    ...(policies.length === 0 ? {} : { policies }),
  };
  const printer = printerFor(context, flags);
  await emit(explainDocument(complete), { flags, context, printer });
  const omitted = explanation.rows.length - rows.length;
  if (omitted > 0) printer.hint(`${plural(omitted, 'field')} without a difference not shown; --all prints all fields\n`);
  return 0;
}

/** Prints what the code of a message means, offline. */
async function explainCode({ resource: code, ...flags }: ExplainFlags, context: CliContext): Promise<number> {
  const { catalogSections, findCatalogEntry } = await import('../model/catalog/diagnostic-catalog.ts');
  const printer = printerFor(context, flags);
  const risk = Object.entries(riskCodes).find(([name]) => code === `risk/${name}`)?.[1];
  if (risk !== undefined) {
    if (flags.format === 'json') printer.print(toJsonText({ code, class: risk.class, meaning: risk.means }));
    else printer.print(`${printer.results.color.bold(code)} (${risk.class})\n  ${risk.means}\n`);
    return 0;
  }
  const entry = findCatalogEntry(code);
  if (entry === undefined) {
    throw new UsageError(
      `unknown code "${code}"`,
      didYouMean(
        code,
        catalogSections.flatMap(({ codes }) => Object.keys(codes)),
      ) ?? 'a message begins with its severity and its code: error git/no-record',
    );
  }
  if (flags.format === 'json') printer.print(toJsonText({ code, ...entry }));
  else printer.print(codeText(code, entry, printer.results));
  return 0;
}

/** Returns a row with the gateway's names of its field and values. */
function respellRow(row: ExplanationRow, names: KindNames): ExplanationRow {
  const { path, desired, live, base } = row;
  return {
    ...row,
    path: respellPath(names, path),
    ...(desired === undefined ? {} : { desired: respellSide(names, path, desired) }),
    ...(live === undefined ? {} : { live: respellSide(names, path, live) }),
    ...(base === undefined ? {} : { base: respellSide(names, path, base) }),
  };
}
