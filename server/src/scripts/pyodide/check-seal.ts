import type { SealedInterpreter } from './sealed-interpreter.js';

/**
 * Tests the seal of this very interpreter before any untrusted code runs on it: two well-known escapes must end at a
 * gate.
 * @throws Error if one does not
 */
export function checkSeal(interpreter: SealedInterpreter): void {
  const importer =
    'B=[c for c in ().__class__.__base__.__subclasses__() if c.__name__=="BuiltinImporter"][0]\n';
  expectDenied(
    interpreter,
    `${importer}B.load_module("posix").system("true")`,
    '_emscripten_system',
  );
  expectDenied(
    interpreter,
    `${importer}g=B.load_module("gc")\ng.unfreeze()\n` +
      '[o for o in g.get_objects() if type(o).__name__=="JsFinder"][0].jsproxies["pyodide_js"].version',
    'JsProxy_GetAttr_js',
  );
  expectAnswer(interpreter);
}

function expectDenied(interpreter: SealedInterpreter, source: string, gate: string): void {
  const request = Buffer.from(JSON.stringify({ kind: 'script', source }));
  const call = { request, variables: Buffer.from('{}'), pure: false };
  const { outcome, result } = interpreter.call(call);
  const names = result.toString();
  if (outcome === 'denied' && names === gate) return;
  throw new Error(`The seal does not hold: expected ${gate} to be denied, but ${outcome} ${names}`);
}

function expectAnswer(interpreter: SealedInterpreter): void {
  const request = Buffer.from(
    JSON.stringify({ kind: 'expressions', sources: ['data.a + 1'], targets: [null] }),
  );
  const variables = Buffer.from('{"data":{"a":41}}');
  const { outcome, result } = interpreter.call({ request, variables, pure: false });
  interpreter.restoreIfChanged();
  if (outcome === 'answered' && result.toString() === '{}\n42') return;
  throw new Error(`The interpreter does not respond: ${outcome} ${result.toString()}`);
}
