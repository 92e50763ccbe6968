import { Environment, EvaluationError, TypeError as CelTypeError, ParseError, type ParseResult } from '@marcbachmann/cel-js';
import { type Diagnostic, suggest } from '../../model/diagnostic.ts';
import type { Registry } from '../../model/kind.ts';
import type { Policy, Requirement } from '../../model/protection/policy.ts';
import { type KindNames, noNames, type Spelling } from '../../model/spec/spelling.ts';
import { patternCache, type PatternCompiler } from '../pattern/compile.ts';
import { fieldsNamed, textsNamed, findsPattern, maxLength, missingField, findObjection, type FieldTypes } from './expression.ts';
import { withManifestNames } from './match.ts';
import { respellExpression } from './respell-expression.ts';
import { connectionFieldTypes, defineFields, fieldTypes, celClasses, ExpressionError, type PolicyVariables } from './subject.ts';

/** A requirement whose expression compiled and has the type bool. */
export type CompiledRequirement = {
  readonly requirement: Requirement;
  readonly evaluate: (variables: PolicyVariables) => unknown;
  /** The fields of the connection on which the expression depends. */
  readonly fields: readonly string[];
  /** The texts in the expression: a group that it names is asked about. */
  readonly texts: readonly string[];
};

/** A policy with its compiled requirements. */
export type CompiledPolicy = {
  readonly policy: Policy;
  readonly require: readonly CompiledRequirement[];
};

/**
 * Compiles the expressions of all policies. An invalid expression becomes a diagnostic at its character and is left out. `spelling` also
 * accepts the names of a gateway.
 */
export function compilePolicies(
  policies: readonly Policy[],
  registry: Registry,
  spelling?: Spelling,
): { readonly rules: readonly CompiledPolicy[]; readonly diagnostics: readonly Diagnostic[] } {
  const types = typesOf(registry);
  const patterns = patternCache();
  const environment = environmentOf(types, patterns);
  const diagnostics: Diagnostic[] = [];
  const names = [...new Set(Object.values(types).flatMap((fields) => Object.keys(fields)))];
  const others = spelling?.toManifest.get('Connection') ?? noNames;
  const rules = policies.map((policy) => ({
    policy: withManifestNames(policy, spelling),
    require: policy.require.flatMap((requirement): readonly CompiledRequirement[] => {
      const made = compile(environment, requirement, { types, names, others, patterns });
      if ('requirement' in made) return [made];
      diagnostics.push(made);
      return [];
    }),
  }));
  return { rules, diagnostics };
}

function typesOf(registry: Registry): FieldTypes {
  return { ...fieldTypes, Connection: connectionFieldTypes(registry.get('Connection')?.schema ?? {}) };
}

function environmentOf(types: FieldTypes, patterns: PatternCompiler): Environment {
  const environment = new Environment({
    limits: { maxAstNodes: 250, maxDepth: 40, maxListElements: 50, maxMapEntries: 50, maxCallArguments: 4 },
  });
  for (const [name, fields] of Object.entries(types)) {
    const type = celClasses[name];
    if (type === undefined) continue;
    defineFields(type, Object.keys(fields));
    environment.registerType(name, { ctor: type, fields: { ...fields } });
  }
  for (const [name, type] of Object.entries(variableTypes)) environment.registerVariable(name, type);
  return environment.registerFunction('string.re(string): bool', (text: string, pattern: string) => findsPattern(text, pattern, patterns));
}

type CompileContext = {
  readonly types: FieldTypes;
  readonly names: readonly string[];
  /** The names of the gateway. */
  readonly others: KindNames;
  readonly patterns: PatternCompiler;
};

/** The offset in an expression that has no other names. */
function sameOffset(offset: number): number {
  return offset;
}

function compile(
  environment: Environment,
  requirement: Requirement,
  { types, names, others, patterns }: CompileContext,
): CompiledRequirement | Diagnostic {
  const { expression } = requirement;
  let offsetOf = sameOffset;
  const wrong = (message: string, hint: string, start: number): Diagnostic =>
    requirement.diagnose({ code: 'policy/expression', severity: 'error', message, hint }, offsetOf(start));
  if (expression.length > maxLength)
    return wrong(`the expression has ${expression.length} characters, more than ${maxLength}`, 'write several expressions', 0);
  const written = parse(environment, expression);
  if (written instanceof ParseError)
    return wrong(`invalid CEL expression: ${written.summary}`, hintFor(written.code), written.range?.start ?? 0);
  const respelled = respellExpression(expression, written.ast, others);
  const parsed = respelled.text === expression ? written : parse(environment, respelled.text);
  if (parsed instanceof ParseError) throw new Error(`invalid after respelling: ${respelled.text}`);
  ({ offsetOf } = respelled);
  const objection = findObjection(parsed.ast, patterns);
  if (objection !== undefined) return wrong(objection.message, objection.hint, objection.start);
  const { valid, type, error } = parsed.check();
  if (!valid) {
    const name = /^(?:No such key|Unknown variable): (\w+)$/.exec(error?.summary ?? '')?.[1];
    return wrong(`type error: ${error?.summary ?? 'unknown'}`, namesHint(name, names), error?.range?.start ?? 0);
  }
  const missing = missingField(parsed.ast, types, variableTypes);
  if (missing !== undefined) return wrong(`type error: No such key: ${missing.field}`, namesHint(missing.field, names), missing.start);
  if (type !== 'bool') return wrong(`the expression has the type ${type ?? 'dyn'}, expected bool`, 'compare it with a value', 0);
  return {
    requirement,
    evaluate: (given) => evaluate(parsed, given, offsetOf),
    fields: fieldsNamed(parsed.ast),
    texts: textsNamed(parsed.ast),
  };
}

/** Evaluates an expression; throws ExpressionError when it fails on visible values. */
function evaluate(parsed: ParseResult, variables: PolicyVariables, offsetOf: (offset: number) => number): unknown {
  try {
    return parsed({ ...variables });
  } catch (error) {
    if (!(error instanceof EvaluationError || error instanceof CelTypeError)) throw error;
    const { code, summary, range } = error;
    const start = range === undefined ? undefined : offsetOf(range.start);
    if (code !== 'no_such_key') throw new ExpressionError(summary, 'correct the expression', start);
    const hint = 'check has(...) first, or add the value to the manifest';
    throw new ExpressionError(summary.replace('No such key:', 'no value for'), hint, start);
  }
}

function namesHint(name: string | undefined, names: readonly string[]): string {
  const near = name === undefined ? undefined : suggest(name, [...names, ...variables]);
  return near === undefined
    ? `the variables are ${variables.join(', ')}; docs/how-to/policies.md has their fields`
    : `did you mean "${near}"?`;
}

/** The CEL types of the variables. */
const variableTypes: Readonly<Record<keyof PolicyVariables, string>> = {
  connection: 'Connection',
  guardrails: 'list<Guardrail>',
  masking: 'list<MaskingRule>',
  posture: 'Posture',
  access: 'Access',
};
const variables = Object.keys(variableTypes);

function hintFor(code: string): string {
  return code === 'limit_exceeded' ? 'write several shorter expressions' : 'docs/how-to/policies.md has examples';
}

function parse(environment: Environment, expression: string): ParseResult | ParseError {
  try {
    return environment.parse(expression);
  } catch (error) {
    if (error instanceof ParseError) return error;
    throw error;
  }
}
