import { parseSync, Visitor, type ESTree } from 'rolldown/utils';

/** Returns the calls with a spread argument, each as a position and the called function. */
export function spreadCalls({ path, text }: { readonly path: string; readonly text: string }): readonly string[] {
  const found: string[] = [];
  const visitor = new Visitor({
    CallExpression: (node) => visit(node),
    NewExpression: (node) => visit(node),
  });
  function visit({ callee, arguments: values }: ESTree.CallExpression | ESTree.NewExpression): void {
    if (!values.some(({ type }) => type === 'SpreadElement')) return;
    found.push(`${path}:${text.slice(0, callee.start).split('\n').length} ${text.slice(callee.start, callee.end)}`);
  }
  visitor.visit(parseSync(path, text).program);
  return found;
}
