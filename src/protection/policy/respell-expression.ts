import type { ASTNode } from '@marcbachmann/cel-js';
import { fieldName, type KindNames, respellText } from '../../model/spec/spelling.ts';
import { childrenOf } from './expression.ts';

/** An expression with the names of manifests, and the character of the original one for each of its characters. */
export type RespelledExpression = { readonly text: string; readonly offsetOf: (offset: number) => number };

type Replacement = { readonly start: number; readonly end: number; readonly text: string };

/** Replaces the gateway's names of fields of the connection, and of values that are compared with them. */
export function respellExpression(expression: string, root: ASTNode, names: KindNames): RespelledExpression {
  const found = new Map<number, Replacement>();
  const replace = (start: number, end: number, text: string): void => {
    if (expression.slice(start, end) !== text) found.set(start, { start, end, text });
  };
  const visit = (node: ASTNode): void => {
    const field = connectionField(node);
    if (field !== undefined) replace(node.end - field.length, node.end, fieldName(names, field));
    if (node.op === '==' || node.op === '!=' || node.op === 'in') {
      const [left, right] = node.args;
      const compared = connectionField(left) ?? connectionField(right);
      if (compared !== undefined)
        for (const { args, start, end } of literals([left, right])) {
          const value = respellText(names, compared, args);
          if (value !== args) replace(start, end, JSON.stringify(value));
        }
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(root);
  const all = [...found.values()].toSorted((one, other) => one.start - other.start);
  let text = '';
  let read = 0;
  const shifts: { readonly at: number; readonly by: number }[] = [];
  for (const { start, end, text: other } of all) {
    text += expression.slice(read, start) + other;
    shifts.push({ at: text.length, by: end - text.length });
    read = end;
  }
  return {
    text: text + expression.slice(read),
    offsetOf: (offset) => Math.max(offset + (shifts.findLast(({ at }) => at <= offset)?.by ?? 0), 0),
  };
}

/** Returns the field that a node reads from the connection; undefined for any other node. */
function connectionField(node: ASTNode): string | undefined {
  return node.op === '.' && node.args[0].op === 'id' && node.args[0].args === 'connection' ? node.args[1] : undefined;
}

type Literal = { readonly args: string; readonly start: number; readonly end: number };

/** Lists the texts among nodes and in lists among them. */
function literals(nodes: readonly ASTNode[]): readonly Literal[] {
  return nodes.flatMap((node): readonly Literal[] => {
    if (node.op === 'list') return literals(node.args);
    return node.op === 'value' && typeof node.args === 'string' ? [{ args: node.args, start: node.start, end: node.end }] : [];
  });
}
