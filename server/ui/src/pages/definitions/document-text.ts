/** Converts a definition to text and back. Pure. */
import { stringifyJson } from '@stepwright/sdk';
import { Document, parse, visit } from 'yaml';

export type DocumentFormat = 'yaml' | 'json';

const ADDED: ReadonlySet<string> = new Set(['version', 'disabled', 'origin']);

/** The text of a definition without the members that the server adds: its version, its origin, and whether it is disabled. */
export function documentText(definition: object, format: DocumentFormat): string {
  const document = Object.fromEntries(
    Object.entries(definition).filter(([name]) => !ADDED.has(name)),
  );
  return format === 'json' ? `${stringifyJson(document, 2)}\n` : yamlText(document);
}

function yamlText(definition: object): string {
  const document = new Document(definition);
  visit(document, {
    Scalar(_key, node) {
      // Without an exponent, a large float would become an integer.
      if (typeof node.value === 'number' && Math.abs(node.value) >= 2 ** 53) node.format = 'EXP';
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** The text as posted, if it is readable; otherwise the document in YAML. Programs often post JSON in one line. */
export function editableText(definition: object, source: string): string {
  const isOneLine = !source.trim().includes('\n');
  return formatOf(source) === 'json' && isOneLine ? documentText(definition, 'yaml') : source;
}

/** Undefined if the text cannot be parsed. */
export function readDocument(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 50, logLevel: 'silent' });
  } catch {
    return undefined;
  }
}

/** JSON if the text starts like an object, else YAML. */
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
