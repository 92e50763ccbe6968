import type { ASTNode } from '@marcbachmann/cel-js';
import type { PatternCompiler } from '../pattern/compile.ts';
import { fieldsOfControl } from '../controls/control-table.ts';
import { budgetError } from './subject.ts';

/** A reason to reject an expression, at a character of it. */
type Objection = { readonly message: string; readonly hint: string; readonly start: number };

/** The maximum length of an expression in characters. */
export const maxLength = 2000;
/** The maximum nesting of macros: rules, their entries, the words of entries. */
const maxDepth = 3;
/** The maximum number of iterations of the innermost macro over literal lists. */
const maxIterations = 20_000;

const macros = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
const functions = new Set([
  ...macros,
  'has',
  'size',
  'contains',
  'startsWith',
  'endsWith',
  'lowerAscii',
  'upperAscii',
  'trim',
  'int',
  'double',
  'string',
  're',
]);

/** Finds a construct that could take too long or is not supported; returns undefined for a valid expression. */
export function findObjection(root: ASTNode, patterns: PatternCompiler): Objection | undefined {
  let found: Objection | undefined;
  const visit = (node: ASTNode, depth: number, turns: number): void => {
    if (found !== undefined) return;
    const name = calledIn(node);
    const inner = name !== undefined && macros.has(name) ? { depth: depth + 1, turns: turns * literalSize(node) } : { depth, turns };
    found = objectionAt(node, name, inner) ?? (name === 're' ? patternObjection(node, patterns) : undefined);
    for (const child of childrenOf(node)) visit(child, inner.depth, inner.turns);
  };
  visit(root, 0, 1);
  return found;
}

function objectionAt(
  node: ASTNode,
  name: string | undefined,
  inner: { readonly depth: number; readonly turns: number },
): Objection | undefined {
  const { start } = node;
  if (inner.depth > maxDepth) return { message: `macros are nested more than ${maxDepth} deep`, hint: 'write several expressions', start };
  if (inner.turns > maxIterations) return { message: 'list macros are nested too deep', hint: 'write shorter lists', start };
  if (name === 'matches')
    return { message: 'matches() can take unbounded time', hint: 'use TEXT.re("PATTERN") with an RE2 pattern', start };
  if (name !== undefined && !functions.has(name)) {
    return { message: `unknown function "${name}"`, hint: `functions: ${[...functions].toSorted().join(', ')}`, start };
  }
  return undefined;
}

/** Checks the pattern of `re`. It must be a literal, because patterns are compiled when a policy is loaded. */
function patternObjection(node: ASTNode, patterns: PatternCompiler): Objection | undefined {
  const { start } = node;
  const pattern = node.op === 'rcall' ? node.args[2][0] : undefined;
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string')
    return { message: 're() requires a quoted pattern', hint: 'use TEXT.re("PATTERN")', start };
  const made = patterns(pattern.args);
  if ('tooLarge' in made) return { message: 'the pattern is too large', hint: 'lower its repeat counts', start: pattern.start };
  if ('pattern' in made) return undefined;
  const { what, hint = 'RE2 has no look-around and no back-references' } = made.error;
  return { message: `invalid RE2 pattern: ${what}`, hint, start: pattern.start };
}

/** Returns whether a compiled pattern matches a part of the text. Throws ExpressionError when the search exceeds the budget. */
export function findsPattern(text: string, pattern: string, patterns: PatternCompiler): boolean {
  const made = patterns(pattern);
  const found = 'pattern' in made ? made.pattern.finds(text) : undefined;
  if (found === undefined) throw budgetError();
  return found;
}

/** The CEL types of fields, by type and field. */
export type FieldTypes = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The types of the names in an expression: variables, and those that macros define. */
type Scope = Readonly<Record<string, string>>;

/** Finds a field in `has(…)` that its type does not declare: it would always be false, and the type check does not report it. */
export function missingField(
  root: ASTNode,
  types: FieldTypes,
  variables: Scope,
): (Pick<Objection, 'start'> & { readonly field: string }) | undefined {
  let found: ReturnType<typeof missingField>;
  const visit = (node: ASTNode, scope: Scope): void => {
    const asked = node.op === 'call' && node.args[0] === 'has' ? node.args[1][0] : undefined;
    if (asked?.op === '.') {
      const [owner, field] = asked.args;
      const fields = types[celTypeOf(owner, types, scope)];
      if (fields !== undefined && !Object.hasOwn(fields, field)) found ??= { field, start: asked.end - field.length };
    }
    const inner = node.op === 'rcall' && macros.has(node.args[0]) ? withElement(node.args, types, scope) : scope;
    for (const child of childrenOf(node)) visit(child, inner);
  };
  visit(root, variables);
  return found;
}

/** Returns the name of the type of a node; empty if it is unknown. */
function celTypeOf(node: ASTNode, types: FieldTypes, scope: Scope): string {
  if (node.op === 'id') return scope[node.args] ?? '';
  if (node.op === '.') return types[celTypeOf(node.args[0], types, scope)]?.[node.args[1]] ?? '';
  return node.op === '[]' ? elementOf(celTypeOf(node.args[0], types, scope)) : '';
}

function elementOf(type: string): string {
  return /^(?:list|map)<(?:string, )?(\w+)>$/.exec(type)?.[1] ?? '';
}

/** Adds the name that a macro gives to each element of its list; of a map, it names the keys. */
function withElement([, receiver, [name]]: readonly [string, ASTNode, readonly ASTNode[]], types: FieldTypes, scope: Scope): Scope {
  const type = celTypeOf(receiver, types, scope);
  return name?.op === 'id' ? { ...scope, [name.args]: type.startsWith('list') ? elementOf(type) : '' } : scope;
}

/** Lists the fields of connections on which an expression depends, in order of appearance. */
export function fieldsNamed(root: ASTNode): readonly string[] {
  const names = new Set<string>();
  for (const node of nodesIn(root)) {
    if (node.op === 'id' && node.args === 'guardrails') names.add('guardrail_rules');
    if (node.op === '.' && node.args[0].op === 'id') {
      if (node.args[0].args === 'connection') names.add(node.args[1]);
      if (node.args[0].args === 'posture') for (const name of fieldsOfControl(node.args[1])) names.add(name);
      if (node.args[0].args === 'access') for (const name of ['access_groups', 'reviewers', `access_mode_${node.args[1]}`]) names.add(name);
    }
  }
  return [...names];
}

/** Lists the texts that an expression contains. */
export function textsNamed(root: ASTNode): readonly string[] {
  const texts = nodesIn(root).flatMap(({ op, args }) => (op === 'value' && typeof args === 'string' ? [args] : []));
  return [...new Set(texts)];
}

function calledIn(node: ASTNode): string | undefined {
  return node.op === 'call' || node.op === 'rcall' ? node.args[0] : undefined;
}

/** Counts the entries of literal lists and maps that a macro is called on. */
function literalSize(node: ASTNode): number {
  const receiver = node.op === 'rcall' ? node.args[1] : undefined;
  const literals = receiver === undefined ? [] : nodesIn(receiver).filter(({ op }) => op === 'list' || op === 'map');
  return literals.reduce((sum, { args }) => sum + (Array.isArray(args) ? args.length : 0), 0) || 1;
}

/** Lists a node and all nodes below it, in the order of the text. */
function nodesIn(node: ASTNode): readonly ASTNode[] {
  return [node, ...childrenOf(node).flatMap(nodesIn)];
}

/** Returns the nodes directly below a node. */
export function childrenOf(node: ASTNode): readonly ASTNode[] {
  if (node.op === 'value' || node.op === 'id') return [];
  if (node.op === '.' || node.op === '.?') return [node.args[0]];
  if (node.op === 'call') return node.args[1];
  if (node.op === 'rcall') return [node.args[1], ...node.args[2]];
  if (node.op === 'map') return node.args.flat();
  return node.op === '!_' || node.op === '-_' ? [node.args] : node.args;
}
