/** Helpers that create the steps of many scenarios. */
import type { StepSource } from './define.js';

export type StepMembers = Partial<Omit<StepSource, 'id' | 'stepType'>>;

/** Completes at once. */
export function noOp(id: string, members: StepMembers = {}): StepSource {
  return { id, stepType: 'NoOp', ...members };
}

/** Completes at once and adds its id to `data.trail`. */
export function trace(id: string, members: StepMembers = {}): StepSource {
  return noOp(id, { outputs: { trail: `[...data.trail, '${id}']` }, ...members });
}

/** A custom step: its body is an effect, which the test ends. */
export function work(id: string, members: StepMembers = {}): StepSource {
  return { id, stepType: 'my-step', ...members };
}

/** Fails as soon as it is reached, every time. */
export function failing(id: string, members: StepMembers = {}): StepSource {
  return noOp(id, { outputs: { never: 'data.noSuchField' }, ...members });
}

export function delay(id: string, seconds: number, members: StepMembers = {}): StepSource {
  return { id, stepType: 'Delay', inputs: { period: seconds }, ...members };
}

export function waitFor(id: string, members: StepMembers = {}): StepSource {
  const { inputs, ...others } = members;
  const event = { eventName: `'${id}'`, eventKey: "'key'" };
  return { id, stepType: 'WaitFor', inputs: { ...event, ...inputs }, ...others };
}

/** Offers work under its own id. */
export function activity(id: string, members: StepMembers = {}): StepSource {
  const { inputs, ...others } = members;
  const offer = { activityName: `'${id}'` };
  return { id, stepType: 'Activity', inputs: { ...offer, ...inputs }, ...others };
}

export function subWorkflow(id: string, members: StepMembers = {}): StepSource {
  const { inputs, ...others } = members;
  const started = { definitionId: "'child'" };
  return { id, stepType: 'SubWorkflow', inputs: { ...started, ...inputs }, ...others };
}

/** One sequence of steps, or several as a list of lists. */
export function box(
  id: string,
  inside: NonNullable<StepSource['do']>,
  members: StepMembers = {},
): StepSource {
  return { id, stepType: 'Sequence', do: inside, ...members };
}

export function foreach(
  id: string,
  collection: string,
  inside: NonNullable<StepSource['do']>,
  members: StepMembers = {},
): StepSource {
  const { inputs, ...others } = members;
  return { id, stepType: 'Foreach', inputs: { collection, ...inputs }, do: inside, ...others };
}

/** Starts two or more branches. */
export function fork(id: string, ...paths: readonly string[]): StepSource {
  return noOp(id, { selectNextStep: Object.fromEntries(paths.map((path) => [path, 'true'])) });
}

/** Completes at once, and is compensated by `-<id>`. */
export function undoable(id: string, members: StepMembers = {}): StepSource {
  return noOp(id, { compensateWith: [trace(`-${id}`)], ...members });
}

export function saga(
  inside: NonNullable<StepSource['do']>,
  members: StepMembers = { compensateWith: [trace('-saga')] },
): StepSource {
  return box('saga', inside, { saga: true, ...members });
}
