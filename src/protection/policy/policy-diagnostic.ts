import type { Diagnostic } from '../../model/diagnostic.ts';
import type { PolicyFinding } from '../../model/protection/policy.ts';

/** Returns the diagnostic of a connection that fails a policy, or of a policy that could not be evaluated. */
export function policyDiagnostic({ result, severity, message, expression, connection, at }: PolicyFinding): Diagnostic {
  return {
    code: result === 'violated' ? 'policy/violated' : 'policy/unknown',
    severity,
    message: `${message} (${clipped(expression)})`,
    hint: 'change the manifest; or waive it in the policy, with an end date and a reason',
    resource: connection,
    ...(at === undefined ? {} : { at }),
  };
}

function clipped(expression: string): string {
  const line = expression.replaceAll(/\s+/g, ' ').trim();
  return line.length > 100 ? `${line.slice(0, 97)}...` : line;
}
