/** Common mistakes of authors who know other languages, with their Python equivalents. The rules apply in this order. */

export interface ForeignRule {
  /** Global; sees string literals as masks. */
  readonly pattern: RegExp;
  /** The replacement of a match; null if there is no simple one. */
  readonly python: ((match: RegExpExecArray) => string) | null;
  /** The hint for the first match. */
  readonly hint: (match: RegExpExecArray) => string;
}

const KEYWORDS =
  'False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|' +
  'if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield';

/** A rule with a fixed replacement. */
function rule(pattern: RegExp, written: string, python: string, put = python): ForeignRule {
  return {
    pattern,
    python: () => put,
    hint: () => `${quote(written)} is written ${quote(python)}`,
  };
}

/** A rule for names, but not for fields or keyword arguments. */
function name(source: string, python: string, shown = python): ForeignRule {
  const pattern = new RegExp(String.raw`(?<![.\w$])(?:${source})(?![\w])(?!\s*=(?!=))`, 'g');
  return {
    pattern,
    python: () => python,
    hint: ([written]) => `${quote(written)} is written ${quote(shown)}`,
  };
}

/** A rule for methods without arguments, or with unchanged ones. */
function method(source: string, python: string): ForeignRule {
  return {
    pattern: new RegExp(String.raw`\.(?:${source})(?=\s*\()`, 'g'),
    python: () => `.${python}`,
    hint: ([written]) => `${quote(`${written}()`)} is written ${quote(`.${python}()`)}`,
  };
}

function quote(text: string): string {
  return JSON.stringify(text);
}

const NOW = 'datetime.now(timezone.utc)';

export const FOREIGN_RULES: readonly ForeignRule[] = [
  {
    pattern: /(?:^|[(,])\s?(?:[A-Za-z_]\w*|\([\w\s,]*\))\s*=>/g,
    python: null,
    hint: () =>
      'a function is written "lambda x: …", and items of a list are chosen with "[x for x in data.items if x.open]"',
  },
  rule(/===?\s*(?:null|nil|undefined)(?!\w)/g, '== null', 'is None', ' is None'),
  rule(/(?:!==?|<>)\s*(?:null|nil|undefined)(?!\w)/g, '!= null', 'is not None', ' is not None'),
  rule(/===/g, '===', '=='),
  rule(/!==/g, '!==', '!='),
  rule(/<>/g, '<>', '!='),
  rule(/=>/g, '=>', '>='),
  rule(/=</g, '=<', '<='),
  rule(/&&/g, '&&', 'and', ' and '),
  rule(/\|\|/g, '||', 'or', ' or '),
  rule(/(?<![\w\])}])!(?!=)/g, '!', 'not', 'not '),
  name('AND', 'and'),
  name('OR', 'or'),
  name('NOT', 'not'),
  name('true|TRUE', 'True'),
  name('false|FALSE', 'False'),
  name('null|NULL|nil|undefined', 'None'),
  {
    pattern:
      /(?<![\w.])(?<path>[A-Za-z_][\w.]{0,80})\.(?<last>[A-Za-z_]\w{0,80})\s{0,9}\?\?\s{0,9}/g,
    python: null,
    hint: ({ groups }) =>
      `the value of a field that may be missing is written ${quote(`${groups?.['path']}.get("${groups?.['last']}", …)`)}`,
  },
  {
    pattern: /\?\.\s*(?<last>[A-Za-z_]\w*)/g,
    python: null,
    hint: ({ groups }) =>
      `a field that may be missing is read with ${quote(`.get("${groups?.['last']}")`)}, not with "?."`,
  },
  {
    pattern: new RegExp(String.raw`\.(?<keyword>${KEYWORDS})(?!\w)`, 'g'),
    python: ({ groups }) => `["${groups?.['keyword']}"]`,
    hint: ({ groups }) =>
      `${quote(groups?.['keyword'] ?? '')} is a reserved word, so a field of this name is read with ${quote(`["${groups?.['keyword']}"]`)}`,
  },
  {
    pattern: /(?<list>(?<!\w)[A-Za-z_]\w{0,80}|\])\.(?<index>\d{1,9})(?!\w)/g,
    python: ({ groups }) => `${groups?.['list']}[${groups?.['index']}]`,
    hint: ({ groups }) =>
      `an item of a list is written ${quote(`[${groups?.['index']}]`)}, not ${quote(`.${groups?.['index']}`)}`,
  },
  rule(/\$\.(?=[A-Za-z_])/g, '$.', 'data.'),
  rule(/\$json(?!\w)/g, '$json', 'data'),
  rule(/\$(?=(?:data|context|environment|step)(?!\w))/g, '$data', 'data', ''),
  name(
    String.raw`new\s+Date\(\)|Date\.now\(\)|DateTime(?:Offset)?\.(?:Utc)?Now|DateTime\.now\(\)|now\(\)`,
    NOW,
  ),
  name(String.raw`DateTime\.Today`, 'date.today()'),
  name(String.raw`Guid\.NewGuid\(\)|crypto\.randomUUID\(\)`, 'str(uuid.uuid4())'),
  name(String.raw`JSON\.stringify`, 'json.dumps'),
  name(String.raw`JSON\.parse`, 'json.loads'),
  name(String.raw`Math\.(?:round|Round)`, 'round'),
  name(String.raw`Math\.(?:max|Max)`, 'max'),
  name(String.raw`Math\.(?:min|Min)`, 'min'),
  name(String.raw`Math\.(?:abs|Abs)`, 'abs'),
  name(String.raw`Math\.(?:floor|Floor)`, 'math.floor'),
  name(String.raw`Math\.(?:ceil|Ceiling)`, 'math.ceil'),
  name(String.raw`Math\.(?:sqrt|Sqrt)`, 'math.sqrt'),
  name(String.raw`Math\.(?:pow|Pow)`, 'pow'),
  name(String.raw`(?:parseInt|Convert\.ToInt32)(?=\s*\()`, 'int'),
  name(String.raw`(?:parseFloat|Number|Convert\.ToDouble)(?=\s*\()`, 'float'),
  name(String.raw`(?:String|Convert\.ToString)(?=\s*\()`, 'str'),
  name(String.raw`Boolean(?=\s*\()`, 'bool'),
  name(String.raw`(?:length|size|count)(?=\s*\()`, 'len'),
  {
    pattern: /(?<![.\w])new(?=\s+[A-Za-z_])/g,
    python: () => '',
    hint: () => 'objects are created without "new"',
  },
  {
    pattern: /\+\+|--$/g,
    python: null,
    hint: () => '"x++" is written "x + 1", as the value of an Output',
  },
  method('toUpperCase|ToUpper(?:Invariant)?', 'upper'),
  method('toLowerCase|ToLower(?:Invariant)?', 'lower'),
  method('trim|Trim', 'strip'),
  method('startsWith|StartsWith', 'startswith'),
  method('endsWith|EndsWith', 'endswith'),
  method('indexOf|IndexOf', 'find'),
  method('replaceAll|Replace', 'replace'),
  {
    pattern: /\.(?:toString|ToString)\(\)/g,
    python: null,
    hint: () => '".toString()" is written "str(…)"',
  },
  {
    pattern: /\.(?:includes|contains|Contains)(?=\s*\()/g,
    python: null,
    hint: ([written]) => `${quote(`${written}(x)`)} is written "x in …"`,
  },
  {
    pattern: /;$/g,
    python: () => '',
    hint: () => 'an expression has no ";" after it',
  },
];
