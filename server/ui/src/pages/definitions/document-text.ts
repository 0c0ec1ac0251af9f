/** A definition as text, and text as a definition. Pure. */
import { stringifyJson } from '@stepwright/sdk';
import { Document, parse, visit } from 'yaml';

export type DocumentFormat = 'yaml' | 'json';

/** Without the version, which the server assigns. */
export function documentText(definition: object, format: DocumentFormat): string {
  const document = Object.fromEntries(
    Object.entries(definition).filter(([name]) => name !== 'version'),
  );
  return format === 'json' ? `${stringifyJson(document, 2)}\n` : yamlText(document);
}

function yamlText(definition: object): string {
  const document = new Document(definition);
  visit(document, {
    Scalar(_key, node) {
      // Without an exponent a large float would be an integer.
      if (typeof node.value === 'number' && Math.abs(node.value) >= 2 ** 53) node.format = 'EXP';
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** Undefined while it cannot be read. */
export function readDocument(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 50, logLevel: 'silent' });
  } catch {
    return undefined;
  }
}

/** Text that begins like an object is JSON. */
export function formatOf(text: string): DocumentFormat {
  return /^\s*\{/.test(text) ? 'json' : 'yaml';
}

export const NEW_DEFINITION = `Id: my-definition
Description: Says hello
Steps:
  - Id: hello
    StepType: EmitLog
    Inputs:
      Message: '"Hello " + data.name'
`;
