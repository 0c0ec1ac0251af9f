/**
 * ESLint rule: the title of a test is a sentence whose subject is the `describe` around it, so it begins with a verb in
 * the third person singular, as in "rejects an expired token" (docs/style.md). The rule sees only the ending of the
 * first word.
 *
 * Used by: `eslint.config.js`.
 */

/** Words that end as such a verb does, but can't be one: function words, and plurals that titles might begin with. */
const NO_VERBS = new Set(
  [
    'across always as besides its less perhaps plus sometimes this thus unless various',
    'activities bodies clients containers definitions errors events ids instances keys nodes notifications',
    'responses sagas servers tokens webhooks workers workflows',
  ].flatMap((line) => line.split(' ')),
);

/** Allows "re-evaluates", "doesn't" and "works: %s". */
const FIRST_WORD = /^((?:[a-z]+-)*[a-z]*s)(?:n't)?[,:;]?(?=\s|$)/;

/** What `it` returns for these is called with the title. */
const WITH_OWN_ARGUMENTS = new Set(['each', 'for', 'runIf', 'skipIf']);
const MODIFIERS = new Set(['concurrent', 'fails', 'only', 'sequential', 'skip']);

/** Whether a call of this takes the title of a test: `it`, `it.only`, `it.skipIf(…).each(…)`. */
function takesTitle(callee) {
  if (callee.type === 'Identifier') return callee.name === 'it' || callee.name === 'test';
  if (callee.type === 'MemberExpression') {
    return MODIFIERS.has(callee.property.name) && takesTitle(callee.object);
  }
  const inner =
    callee.type === 'CallExpression'
      ? callee.callee
      : callee.type === 'TaggedTemplateExpression'
        ? callee.tag
        : null;
  return (
    inner?.type === 'MemberExpression' &&
    WITH_OWN_ARGUMENTS.has(inner.property.name) &&
    takesTitle(inner.object)
  );
}

/** @returns the text up to the first `${…}`; null if it is known only when the test runs */
function beginningOf(title) {
  if (title?.type === 'Literal' && typeof title.value === 'string') return title.value;
  if (title?.type === 'TemplateLiteral') return title.quasis[0].value.cooked;
  return null;
}

const sentence = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      noVerb:
        "Write the title as a sentence about the subject in `describe`: begin with a verb in the third person, as in it('rejects an expired token').",
    },
  },
  create: (context) => ({
    CallExpression({ arguments: [title, ...rest], callee }) {
      // Within a test, `test.skip('a reason')` has no function.
      if (rest.length === 0 || !takesTitle(callee)) return;
      const beginning = beginningOf(title);
      if (beginning === null) return;
      const [, verb] = FIRST_WORD.exec(beginning) ?? [];
      if (verb === undefined || NO_VERBS.has(verb)) {
        context.report({ node: title, messageId: 'noVerb' });
      }
    },
  }),
};

/** The plugin. */
export default { rules: { sentence } };
