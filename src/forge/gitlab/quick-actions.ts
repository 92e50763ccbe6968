/**
 * Returns text in which no line begins with a slash: GitLab would run it as a command, such as `/merge`, with the permissions of the
 * token. In code it reads fences of its own, which a line of the text can close. An invisible word joiner precedes the slash.
 */
export function withoutQuickActions(text: string): string {
  return text.replaceAll(/^([^\S\r\n\u2028\u2029]*)\//gm, '$1\u{2060}/');
}
