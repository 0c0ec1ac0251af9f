/** What the server suggests to try first, on its standard output. */
import type { Config } from './config/settings.js';

type AuthSettings = Pick<
  Config,
  'auth' | 'alg' | 'issuer' | 'jwks_url' | 'auth_issuer' | 'auth_audience'
>;

/** @param place the address of the server */
export function startTip(place: string, settings: AuthSettings): readonly string[] {
  const token = settings.auth ? ` -H "Authorization: Bearer $STEPWRIGHT_TOKEN"` : '';
  return [
    ...(settings.auth ? tokenTip(settings) : []),
    '  Try it:',
    `  curl -X POST ${place}/api/definition${token} -H 'Content-Type: application/yaml' \\`,
    `    --data-binary $'Id: hello\\nSteps:\\n- Id: greet\\n  StepType: NoOp\\n  Outputs:\\n    greeting: "\\'Hello \\' + data.name"'`,
    `  curl -X POST ${place}/api/workflow/hello${token} -H 'Content-Type: application/json' -d '{"name": "you"}'`,
    '',
  ];
}

function tokenTip(settings: AuthSettings): readonly string[] {
  const { alg, auth_audience: audience, auth_issuer: claim, issuer, jwks_url: keysUrl } = settings;
  if (issuer !== null)
    return [`  Every call needs a token of ${issuer}, here in STEPWRIGHT_TOKEN.`, ''];
  if (keysUrl !== null) {
    return [`  Every call needs a token for the keys at ${keysUrl}, here in STEPWRIGHT_TOKEN.`, ''];
  }
  const options = [
    ...(alg === 'ES256' ? [] : [`--alg ${alg}`]),
    ...(claim === null ? [] : [`--issuer '${claim}'`]),
    ...(audience === null ? [] : [`--audience '${audience}'`]),
  ];
  const command = ['stepwright token --key stepwright-key.pem', ...options].join(' ');
  return [
    '  Every call needs a token. With the private key that belongs to the setting publickey:',
    `  export STEPWRIGHT_TOKEN=$(${command})`,
    '',
  ];
}
