/**
 * The built-in step types: the one table behind the parser, the JSON Schema and the reference for authors.
 *
 * Owns: inputs, outputs and their one-sentence descriptions, and the traits that the rest of the server needs, so that no other
 * module checks for a type by its name. Must not know: how a step runs.
 */
import { INSTANCE_OUTCOMES } from '../model/instance.js';
import { CONFLICT_SCOPE_NAMES, ON_CONFLICT } from '../model/start-options.js';
import { EMIT_LEVELS, HTTP_FORMATS, HTTP_METHODS } from '../values/input-choices.js';
import { BUILT_IN_STEP_TYPES, type BuiltInStepType } from '../model/step-type-names.js';

/** The type to which an input is converted before the step gets it; `any` is passed unchanged. */
export type InputKind =
  | 'any'
  | 'text'
  | 'name'
  | 'eventKey'
  | 'reference'
  | 'boolean'
  | 'duration'
  | 'time'
  | 'count'
  | 'list'
  | 'object'
  | 'statuses'
  | 'choice'
  | 'choices';

export interface StepTypeInput {
  readonly name: string;
  readonly kind: InputKind;
  readonly required: boolean;
  /** The value if the input is absent, as the reference shows it. */
  readonly default: string | null;
  /** For the kinds `choice` and `choices`: the allowed values, accepted in any case. */
  readonly choices: readonly string[];
  /** The input without which, if it is false, this one has no meaning. */
  readonly onlyWith?: string;
  readonly summary: string;
}

export interface StepTypeOutput {
  readonly name: string;
  readonly summary: string;
}

/** The traits of a step type that the server needs to run its steps. */
export interface StepTraits {
  /** The body that does the work outside the engine; null if the engine or another instance does it. */
  readonly body: 'http' | 'script' | null;
  readonly startsInstance: boolean;
  /** Whether its result reports an external side effect, so that it must be committed before anything else runs. */
  readonly hasSideEffects: boolean;
  /** True if it waits, or ends its path or the run: a loop that contains it isn't endless. */
  readonly interruptsLoop: boolean;
  /** Whether it offers work to workers. */
  readonly offersWork: boolean;
  /** The input that names the awaited event; null if it doesn't wait for one. */
  readonly eventNameInput: string | null;
  /** Whether its inputs go to a call, so that they may contain secrets. */
  readonly takesSecrets: boolean;
  /** Whether the steps in its `Do` see an item, as `context.Item`. */
  readonly hasItems: boolean;
  /** Whether its `Do` may run more than once. */
  readonly repeatsDo: boolean;
  /** Inputs whose fields may be credentials, which the history hides. */
  readonly inputsWithCredentials: readonly string[];
}

export interface StepType {
  readonly name: BuiltInStepType;
  readonly summary: string;
  /** Whether the step runs the steps in its `Do`. */
  readonly runsDo: boolean;
  readonly inputs: readonly StepTypeInput[];
  /** The fields of `step` in its Outputs. */
  readonly outputs: readonly StepTypeOutput[];
  readonly traits: StepTraits;
}

const INSIDE: StepTraits = {
  body: null,
  startsInstance: false,
  hasSideEffects: false,
  interruptsLoop: false,
  offersWork: false,
  eventNameInput: null,
  takesSecrets: false,
  hasItems: false,
  repeatsDo: false,
  inputsWithCredentials: [],
};

const CUSTOM: StepTraits = { ...INSIDE, body: 'script', takesSecrets: true };

type StepTypeEntry = Omit<StepType, 'name' | 'traits'> & { readonly traits?: Partial<StepTraits> };

const CONDITION = required('Condition', 'boolean', 'Evaluated by Python truth.');

const STEP_TYPES: Readonly<Record<BuiltInStepType, StepTypeEntry>> = {
  EmitLog: {
    summary: 'Writes one structured line to the server log.',
    runsDo: false,
    inputs: [
      required('Message', 'any', 'What to log: a string or any other value.'),
      optional('Level', 'choice', {
        default: 'Information',
        choices: EMIT_LEVELS,
        summary: 'Log level of the line; None suppresses it.',
      }),
    ],
    outputs: [
      { name: 'Message', summary: 'What was logged.' },
      { name: 'Level', summary: 'The level in its canonical spelling.' },
    ],
  },
  NoOp: {
    summary: 'Does nothing, then applies its Outputs and next steps.',
    runsDo: false,
    inputs: [],
    outputs: [],
  },
  Decide: {
    summary: 'Chooses the next steps by its SelectNextStep.',
    runsDo: false,
    inputs: [
      optional('Expression', 'any', {
        summary: 'Evaluated only to surface a failure in it; SelectNextStep decides.',
      }),
    ],
    outputs: [],
  },
  If: {
    summary: 'Runs all sequences of Do in parallel if the condition is true, then continues.',
    runsDo: true,
    inputs: [CONDITION],
    outputs: [],
  },
  While: {
    summary: 'Repeats Do while the condition is true, then continues.',
    runsDo: true,
    inputs: [required('Condition', 'boolean', 'Evaluated before each iteration.')],
    outputs: [],
    traits: { repeatsDo: true },
  },
  Foreach: {
    summary: 'Runs Do once for each item, available to the steps inside as context.Item.',
    runsDo: true,
    inputs: [
      required('Collection', 'list', 'The items: a list, or an object, whose keys are used.'),
      optional('RunParallel', 'boolean', {
        default: 'true',
        summary: 'Whether the items run in parallel; false runs them one after another.',
      }),
      optional('MaxParallel', 'count', {
        default: 'all',
        onlyWith: 'RunParallel',
        summary: 'How many items are open at once; the next one opens when one has ended.',
      }),
    ],
    outputs: [],
    traits: { hasItems: true, repeatsDo: true },
  },
  Parallel: {
    summary: 'Runs all sequences of Do in parallel, and continues when all have ended.',
    runsDo: true,
    inputs: [],
    outputs: [],
  },
  Sequence: {
    summary: 'Groups steps, usually for a saga; continues when every sequence of Do has ended.',
    runsDo: true,
    inputs: [],
    outputs: [],
  },
  Delay: {
    summary: 'Waits, then continues.',
    runsDo: false,
    traits: { interruptsLoop: true },
    inputs: [required('Period', 'duration', 'How long to wait.')],
    outputs: [],
  },
  Schedule: {
    summary: 'Waits for the interval, runs Do once, then continues.',
    runsDo: true,
    traits: { interruptsLoop: true },
    inputs: [
      required('Interval', 'duration', 'How long to wait before Do runs.'),
      optional('Background', 'boolean', {
        default: 'false',
        summary: 'Whether the next step starts immediately instead of after Do.',
      }),
    ],
    outputs: [],
  },
  Recur: {
    summary: 'Runs Do immediately and then at every interval, until its stop condition is true.',
    runsDo: true,
    traits: { interruptsLoop: true, repeatsDo: true },
    inputs: [
      required('Interval', 'duration', 'From the start of one round to the start of the next.'),
      optional('StopCondition', 'boolean', {
        default: 'false',
        summary: 'Evaluated before each round; true ends the rounds.',
      }),
      optional('Background', 'boolean', {
        default: 'true',
        summary: 'Whether the next step starts immediately instead of after the last round.',
      }),
    ],
    outputs: [],
  },
  WaitFor: {
    summary: 'Waits for an event with this name and key.',
    runsDo: false,
    traits: { interruptsLoop: true, eventNameInput: 'EventName' },
    inputs: [
      required('EventName', 'name', 'Name of the event.'),
      required('EventKey', 'eventKey', 'Key of the event.'),
      optional('EffectiveDate', 'time', {
        default: 'start of the instance',
        summary: 'Events published before this time are ignored.',
      }),
      optional('Timeout', 'duration', {
        default: 'none',
        summary: 'After this time, the step continues without an event.',
      }),
    ],
    outputs: [
      { name: 'EventData', summary: 'The data of the event.' },
      { name: 'TimedOut', summary: 'Whether the timeout came before an event.' },
    ],
  },
  Activity: {
    summary: 'Offers a work item to external workers and waits for its result.',
    runsDo: false,
    traits: { interruptsLoop: true, offersWork: true, takesSecrets: true },
    inputs: [
      required('ActivityName', 'name', 'Name by which workers claim the work.'),
      optional('Parameters', 'any', { summary: 'The parameters for the worker.' }),
      optional('EffectiveDate', 'time', {
        default: 'none',
        summary: 'Accepted for compatibility with Conductor; has no effect.',
      }),
      optional('Timeout', 'duration', {
        default: 'none',
        summary: 'After this time without a result, the step fails.',
      }),
    ],
    outputs: [{ name: 'Result', summary: 'The result that the worker reported.' }],
  },
  HttpRequest: {
    summary:
      'Calls an HTTP service; every response is a result, not an error, unless SucceedOn says otherwise.',
    runsDo: false,
    traits: {
      body: 'http',
      takesSecrets: true,
      hasSideEffects: true,
      interruptsLoop: true,
      inputsWithCredentials: ['Headers', 'Parameters', 'Password'],
    },
    inputs: [
      required('BaseUrl', 'text', 'The address, with http:// or https://.'),
      optional('Resource', 'text', { summary: 'Path to append to BaseUrl.' }),
      optional('Method', 'choice', {
        default: 'GET',
        choices: HTTP_METHODS,
        summary: 'The HTTP method.',
      }),
      optional('Headers', 'object', { summary: 'Header fields by name.' }),
      optional('Parameters', 'object', { summary: 'Query parameters by name.' }),
      optional('Username', 'text', { summary: 'Of Basic authentication, with Password.' }),
      optional('Password', 'text', {
        summary: 'Of Basic authentication; use a secret, such as secrets.SHOP_PASSWORD.',
      }),
      optional('Body', 'any', { summary: 'The request body.' }),
      optional('Format', 'choice', {
        default: 'Json',
        choices: HTTP_FORMATS,
        summary: 'The format of Body.',
      }),
      optional('Timeout', 'duration', {
        default: "the server's limit",
        summary: 'How long to wait for the response.',
      }),
      optional('SucceedOn', 'statuses', {
        default: 'every response',
        summary:
          'Statuses and classes of statuses, for example [2xx, 404]; any other response, or none, fails the step.',
      }),
    ],
    outputs: [
      { name: 'ResponseCode', summary: 'Status of the response; 0 if there was none.' },
      { name: 'ResponseBody', summary: 'The parsed body if it is JSON, else its text.' },
      { name: 'IsSuccessful', summary: 'Whether the status is 200 to 299.' },
      { name: 'ErrorMessage', summary: 'Why there was no response, else null.' },
      { name: 'ResponseHeaders', summary: 'Header fields by lower-case name.' },
    ],
  },
  SubWorkflow: {
    summary: 'Starts a run of another definition and waits for it to end.',
    runsDo: false,
    traits: { startsInstance: true, hasSideEffects: true, interruptsLoop: true },
    inputs: [
      required('DefinitionId', 'name', 'The definition to start.'),
      optional('Data', 'object', {
        default: '{}',
        summary: 'The data of the started run.',
      }),
      optional('Wait', 'boolean', {
        default: 'true',
        summary: 'Whether to wait until the started run has ended.',
      }),
      optional('Version', 'any', {
        default: 'the latest',
        summary: 'The version of the definition to start.',
      }),
      optional('Reference', 'reference', {
        default: 'of the definition',
        summary: 'The reference of the started run.',
      }),
      optional('Tags', 'object', { summary: 'Tags of the started run, by name.' }),
      optional('Priority', 'any', { default: 'of this run', summary: '1 (first) to 5 (last).' }),
      optional('OnConflict', 'choice', {
        default: 'of the definition, else allow',
        choices: ON_CONFLICT,
        summary:
          'What happens if another run of the definition has the reference: allow another one, fail, wait for the existing one, terminate it, or queue the new one until it has ended.',
      }),
      optional('ConflictScope', 'choice', {
        default: 'of the definition, else Open',
        choices: CONFLICT_SCOPE_NAMES,
        summary: 'Which other runs count for OnConflict: open ones, or all that are kept.',
      }),
      optional('AcceptOutcome', 'choices', {
        default: '[]',
        choices: INSTANCE_OUTCOMES,
        summary: 'Outcomes of the started run, besides Succeeded, that do not fail the step.',
      }),
    ],
    outputs: [
      { name: 'WorkflowId', summary: 'Id of the started run.' },
      { name: 'Status', summary: 'Its status when the wait ended.' },
      { name: 'Outcome', summary: 'Its outcome; null without Wait.' },
      { name: 'Data', summary: 'Its data when the wait ended.' },
    ],
  },
  Fail: {
    summary:
      'Fails with this error and is not retried; the error behavior decides what happens next.',
    runsDo: false,
    traits: { interruptsLoop: true },
    inputs: [
      required('Message', 'text', 'What went wrong.'),
      optional('Type', 'text', { default: 'Failed', summary: 'The type of the error.' }),
      optional('Data', 'any', { summary: 'Additional data of the error.' }),
    ],
    outputs: [],
  },
};

// TypeScript loses the names when an object is built from a list of pairs.
const BY_NAME = Object.fromEntries(
  BUILT_IN_STEP_TYPES.map((name) => {
    const { traits, ...about } = STEP_TYPES[name];
    return [name, { ...about, name, traits: { ...INSIDE, ...traits } }];
  }),
) as Readonly<Record<BuiltInStepType, StepType>>;

const BY_LOWER_CASE: ReadonlyMap<string, StepType> = new Map(
  Object.values(BY_NAME).map((type) => [type.name.toLowerCase(), type]),
);

export function builtInStepType(name: BuiltInStepType): StepType {
  return BY_NAME[name];
}

export function traitsOf({ type }: { readonly type: BuiltInStepType | null }): StepTraits {
  return type === null ? CUSTOM : BY_NAME[type].traits;
}

/** The built-in type with this name, ignoring case and surrounding space; null if the type is not built in. */
export function findStepType(name: string): StepType | null {
  return BY_LOWER_CASE.get(name.trim().toLowerCase()) ?? null;
}

function required(name: string, kind: InputKind, summary: string): StepTypeInput {
  return { name, kind, required: true, default: null, choices: [], summary };
}

function optional(
  name: string,
  kind: InputKind,
  about: Partial<StepTypeInput> & Pick<StepTypeInput, 'summary'>,
): StepTypeInput {
  return { name, kind, required: false, default: null, choices: [], ...about };
}
