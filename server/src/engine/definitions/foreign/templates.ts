/**
 * Templates in the syntax of other systems: `{{ data.x }}`, `Hello ${data.name}`. A text that consists of one template is an
 * expression in superfluous braces. A template inside other text becomes f'Hello {data.name}'.
 */
import { maskLiterals, stringLiteralsIn } from './masked-code.js';

export interface ReplacedTemplate {
  readonly hint: string;
  readonly python: string | null;
}

const TEMPLATE = /\$?\{\{(?<double>[^{}]*)\}\}|\$\{(?<dollar>[^{}]*)\}|<%=?(?<angle>[^%<>]*)%>/g;
const WHOLE = new RegExp(`^=?(?:${TEMPLATE.source})$`);
const READS = /\b(?:data|context|environment|step|hook|secrets)(?:[.[]|\b\s*$)/;
/** Matches text that belongs to an expression rather than to the text around a template. */
const OPERATOR = /[=+*<>()[\]|&]|\b(?:data|context|environment|step)[.[]/;

/** Null if there is no template, or only braces that are valid Python. */
export function replaceTemplates(source: string): ReplacedTemplate | null {
  const whole = WHOLE.exec(source);
  if (whole !== null) {
    const inner = innerOf(whole.groups);
    const [braces = '{{'] = /^=?(?:\$?\{\{?|<%=?)/.exec(source) ?? [];
    return { hint: `Expressions are written without ${braces} and its end`, python: inner };
  }
  return replaceInLiteral(source) ?? replaceInCode(source);
}

/** A text with templates, as a Python f-string. Null if no template reads a variable. */
export function formattedText(text: string): string | null {
  let readsVariable = false;
  let at = 0;
  let result = '';
  for (const match of text.matchAll(TEMPLATE)) {
    const inner = innerOf(match.groups);
    readsVariable ||= READS.test(inner);
    result += `${text.slice(at, match.index)}{${inner}}`;
    at = match.index + match[0].length;
  }
  if (!readsVariable) return null;
  return inQuotes(result + text.slice(at));
}

/** `'Hello {{ data.name }}'`: a literal whose template Python treats as text. */
function replaceInLiteral(source: string): ReplacedTemplate | null {
  for (const { from, isFormatted, text, to } of stringLiteralsIn(source)) {
    if (isFormatted || to - from < 2) continue;
    const python = formattedText(text.slice(1, -1));
    if (python === null) continue;
    return {
      hint: 'A string that contains values begins with f, and has each value in single braces',
      python: source.slice(0, from) + python + source.slice(to),
    };
  }
  return null;
}

function replaceInCode(source: string): ReplacedTemplate | null {
  const masked = maskLiterals(source);
  const templates = [...masked.matchAll(TEMPLATE)];
  const backticks = /^`([^`]*)`$/.exec(source);
  if (templates.length === 0 && backticks === null) return null;
  const outside = masked.replaceAll(TEMPLATE, '');
  if (backticks === null && OPERATOR.test(outside)) {
    const python = source.replaceAll(TEMPLATE, (...match) => innerOf(match.at(-1) as Groups));
    return { hint: 'Expressions are written without {{ and its end', python };
  }
  const text = backticks?.[1] ?? source;
  const python = formattedText(text) ?? (templates.length === 0 ? inQuotes(text, '') : null);
  if (python === null) return null;
  return { hint: 'A text that contains values is a string that begins with f', python };
}

type Groups = Readonly<Record<string, string | undefined>> | undefined;

function innerOf(groups: Groups): string {
  return (groups?.['double'] ?? groups?.['dollar'] ?? groups?.['angle'] ?? '').trim();
}

/** Null if the text contains both kinds of quote, a backslash or a line break. */
function inQuotes(text: string, prefix = 'f'): string | null {
  if (text.includes('\\') || text.includes('\n')) return null;
  const quote = ["'", '"'].find((each) => !text.includes(each));
  return quote === undefined ? null : `${prefix}${quote}${text}${quote}`;
}
