// Lint rules. Prettier does the formatting. A comment gives the reason for every disabled rule.
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import testTitles from './scripts/check/eslint-test-titles.mjs';

/** A later block replaces the list of an earlier one, so each names all that holds for its files. */
const SPREAD_LITERALS = [
  {
    selector: 'SpreadElement > :matches(ObjectExpression, ArrayExpression)',
    message: 'Write the members themselves: a spread literal only deceives the formatter.',
  },
];
const PRIVATE_MEMBERS = [
  {
    selector:
      ":matches(PropertyDefinition, MethodDefinition, TSParameterProperty)[accessibility='private']",
    message: 'Write #name: it is private when the program runs, too.',
  },
];

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      '**/generated/**',
      '**/*.cjs',
      '**/.cache/**',
      '**/data/**',
    ],
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        // One program for each package: that of its tests contains its sources, too.
        project: [
          './tsconfig.json',
          './{server,sdk,worker-sdk}/tsconfig.test.json',
          './{e2e,examples}/tsconfig.json',
          './server/ui/tsconfig.json',
          './server/ui/tsconfig.test.json',
        ],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      'no-restricted-syntax': ['error', ...SPREAD_LITERALS],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // Messages may contain numbers without conversion.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // noPropertyAccessFromIndexSignature requires the brackets that this rule would remove.
      '@typescript-eslint/dot-notation': 'off',
      // Costly, and the compiler already checks it: #private members make classes nominal, and there are no enums.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      // Interfaces such as Service require async methods, even in implementations that have nothing to await.
      '@typescript-eslint/require-await': 'off',
      // Handlers of Express and event emitters may return a promise; everything else is checked.
      '@typescript-eslint/no-misused-promises': [
        'error',
        { checksVoidReturn: { arguments: false, properties: false } },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'max-depth': ['error', 3],
      'max-params': ['error', 4],
    },
  },
  {
    files: ['server/src/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...SPREAD_LITERALS, ...PRIVATE_MEMBERS] },
  },
  {
    files: ['server/src/engine/**/*.ts'],
    rules: {
      // The engine is pure: it gets time and randomness as values, and does not wait.
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'The engine gets `now` as a value.' },
        { object: 'Math', property: 'random', message: 'The engine is deterministic.' },
      ],
      'no-restricted-syntax': [
        'error',
        ...SPREAD_LITERALS,
        ...PRIVATE_MEMBERS,
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'The engine gets `now` as a value.',
        },
        { selector: 'AwaitExpression', message: 'The engine does not wait.' },
        { selector: ':function[async=true]', message: 'The engine does not wait.' },
      ],
    },
  },
  {
    // What a run sees of time and chance is injected in compose-host.ts, so that tests and simulations can replace it.
    files: ['server/src/{runtime,schedules,step-bodies,test-kit}/**/*.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Take the time from the Clock.' },
        { object: 'Math', property: 'random', message: 'Take random numbers from Ids.' },
      ],
      'no-restricted-syntax': [
        'error',
        ...SPREAD_LITERALS,
        ...PRIVATE_MEMBERS,
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'Take the time from the Clock.',
        },
      ],
      'no-restricted-globals': [
        'error',
        ...['setTimeout', 'setInterval'].map((name) => ({
          name,
          message: 'Wait with the Clock.',
        })),
      ],
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: 'node:crypto',
              importNames: ['randomBytes', 'randomFillSync', 'randomInt', 'randomUUID'],
              message: 'Take random numbers from Ids.',
            },
            {
              name: 'node:timers/promises',
              importNames: ['setTimeout', 'setInterval'],
              message: 'Wait with the Clock.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['server/ui/src/**/*.tsx', 'server/ui/src/**/*.ts'],
    extends: [reactHooks.configs.flat['recommended-latest']],
  },
  {
    files: ['server/src/api/controllers/*.controller.ts'],
    rules: {
      // tsoa requires one parameter for each part of the call.
      'max-params': 'off',
    },
  },
  {
    files: ['**/test/**/*.ts', 'e2e/**/*.ts', '**/*.test.ts'],
    rules: {
      // A describe block is as long as its cases.
      'max-lines-per-function': 'off',
      // Tests know their own input.
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    files: ['**/test/**/*.ts', 'e2e/**/*.ts', '**/*.{test,nightly}.{ts,tsx}'],
    plugins: { 'test-titles': testTitles },
    rules: { 'test-titles/sentence': 'error' },
  },
);
