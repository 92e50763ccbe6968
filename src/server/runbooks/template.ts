import type { Json, JsonObject } from '../../model/json.ts';
import { readActions, type TemplateAction, type TemplateCommand } from './template-actions.ts';

/** What a template asks for, by parameter; or why it is no template. */
export type RunbookTemplate = { readonly metadata: JsonObject } | { readonly problem: string };

const parameterTypes: ReadonlySet<string> = new Set('text number tel time date url email select textarea password file'.split(' '));

/** Reads the parameters of a runbook: what stands in `{{ .name | … }}` outside of every block. */
export function readTemplate(text: string): RunbookTemplate {
  const actions = readActions(text);
  if ('problem' in actions) return actions;
  const parameters = new Map<string, Record<string, Json>>();
  for (const action of actions.actions) {
    const name = parameterOf(action);
    if (name === undefined) return { problem: `template: :${action.line}: an action must begin with a parameter, such as {{ .name }}` };
    const known = parameters.get(name) ?? { type: 'text', required: false, description: '' };
    parameters.set(name, Object.assign(known, ...action.commands.slice(1).map((command) => attributeOf(command))));
  }
  return { metadata: Object.fromEntries(parameters) };
}

function parameterOf({ commands }: TemplateAction): string | undefined {
  const [first] = commands;
  return first?.words.length === 1 ? /^\.([A-Za-z0-9_]+)/.exec(first.words[0]?.text ?? '')?.[1] : undefined;
}

function attributeOf({ words }: TemplateCommand): Readonly<Record<string, Json>> {
  const [name, ...values] = words.map(({ value }) => value);
  const text = values.join(' ');
  if (name === 'required') return { required: true };
  if (name === 'type') return parameterTypes.has(text) ? { type: text } : {};
  if (name === 'options') return { options: values };
  if (name === 'order') return /^[+-]?\d{1,15}$/.test(text) ? { order: Number(text) } : {};
  return textAttributes.has(name ?? '') ? { [name ?? '']: text } : {};
}

const textAttributes: ReadonlySet<string> = new Set(['description', 'default', 'placeholder', 'asenv', 'minlength', 'maxlength']);
