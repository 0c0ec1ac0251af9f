import { Handle, Position, useReactFlow, type Node, type NodeProps } from '@xyflow/react';
import { use, type FocusEvent, type ReactNode } from 'react';
import { GraphContext } from './graph-context.js';
import type { GraphNode } from './graph-model.js';
import { headingHeight } from './layout-graph.js';
import { countText, runsInWords, stateInWords, toneOf, type StepLiveState } from './live-states.js';
import type { GraphStep } from './read-definition.js';
import { StepIcon } from './step-icon.js';
import type { TakenPath } from './taken-path.js';

export interface PlacedNodeData extends Record<string, unknown> {
  readonly node: GraphNode;
  /** The title, shortened if necessary. */
  readonly lines: readonly string[];
}

type Props = NodeProps<Node<PlacedNodeData>>;

/** By kind of `GraphNode`. */
export const NODE_TYPES = {
  start: StartNode,
  step: StepNode,
  container: ContainerNode,
  branch: BranchNode,
  missing: MissingNode,
};

/** The library requires handles to draw edges; our edges follow the routes from the layout instead. */
function Handles(): ReactNode {
  return (
    <>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </>
  );
}

function StartNode(): ReactNode {
  return (
    <div className="graph-start" title="Start">
      <Handles />
    </div>
  );
}

function BranchNode({ data }: Props): ReactNode {
  const { path } = use(GraphContext);
  return (
    <div className={isUnreached(path, data.node) ? 'graph-branch unreached' : 'graph-branch'}>
      <span>{data.node.title}</span>
    </div>
  );
}

function MissingNode({ data }: Props): ReactNode {
  return (
    <div className="graph-missing">
      <Handles />
      <Name {...data} />
      <span>there is no such step</span>
    </div>
  );
}

function StepNode(props: Props): ReactNode {
  return (
    <>
      <Handles />
      <StepBox {...props} />
    </>
  );
}

function ContainerNode(props: Props): ReactNode {
  const { node } = props.data;
  const { states, path } = use(GraphContext);
  const classes = [
    'graph-container',
    `tone-${toneOf(states?.get(node.step?.id ?? ''))}`,
    node.step?.isSaga === true ? 'saga' : '',
    isUnreached(path, node) ? 'unreached' : '',
  ];
  return (
    <div className={classes.join(' ')}>
      <Handles />
      <StepBox {...props} />
    </div>
  );
}

function isUnreached(path: TakenPath | undefined, { id }: GraphNode): boolean {
  return path !== undefined && !path.nodes.has(id);
}

/** A button if steps can be selected. */
function StepBox({ data: { node, lines }, id }: Props): ReactNode {
  const { states, marks, selectedStepId, onSelectStep, path, keepView, runCounts } =
    use(GraphContext);
  const bringIntoView = useBringIntoView(id, keepView);
  const { step } = node;
  if (step === null) return null;
  const state = states?.get(step.id);
  const mark = marks?.get(step.id);
  const classes = [
    mark === undefined ? '' : `mark-${mark}`,
    'graph-step',
    `tone-${toneOf(state)}`,
    node.isUndo ? 'undo' : '',
    selectedStepId === step.id ? 'selected' : '',
    isUnreached(path, node) ? 'unreached' : '',
  ];
  const runs = runCounts?.get(step.id) ?? 0;
  const content = <StepContent {...{ node, lines, step, state, mark, runs }} />;
  const style = { height: node.kind === 'container' ? headingHeight(lines) : '100%' };
  if (onSelectStep === undefined) {
    return (
      <div className={classes.join(' ')} style={style}>
        {content}
      </div>
    );
  }
  return (
    <button
      type="button"
      className={classes.join(' ')}
      style={style}
      aria-pressed={selectedStepId === step.id}
      onFocus={bringIntoView}
      onClick={() => onSelectStep(step.id)}
    >
      <span className="visually-hidden">
        {inWords(node, step, state)}
        {mark !== undefined && `; ${mark}`}
        {runs > 0 && `; ${runsInWords(runs)}`}
        {isUnreached(path, node) && '; not reached'}
      </span>
      <span className="graph-step-content" aria-hidden="true">
        {content}
      </span>
    </button>
  );
}

function StepContent({
  node,
  lines,
  step,
  state,
  mark,
  runs,
}: {
  readonly node: GraphNode;
  readonly lines: readonly string[];
  readonly step: GraphStep;
  readonly state: StepLiveState | undefined;
  readonly mark: string | undefined;
  readonly runs: number;
}): ReactNode {
  const wait = state?.wait ?? null;
  return (
    <>
      <span className="graph-line">
        <StepIcon type={step.type} />
        <Name {...{ node, lines }} />
      </span>
      <span className="graph-line graph-sub">
        <span className="graph-type">
          {node.isUndo && 'compensation · '}
          {step.isSaga && 'saga · '}
          {step.type}
        </span>
        <bdi title={wait ?? step.detail ?? ''}>
          {wait === null ? step.detail : `waiting: ${wait}`}
        </bdi>
        {runs > 0 && (
          <span className="badge running graph-runs" title={runsInWords(runs)}>
            {runs}
          </span>
        )}
        {mark !== undefined && <span className="badge strong">{mark}</span>}
        {mark === undefined && state !== undefined && <Counts state={state} />}
      </span>
    </>
  );
}

/** The name in one or two lines; the whole name as a tooltip and for screen readers. */
function Name({ node: { title }, lines }: PlacedNodeData): ReactNode {
  if (lines.length === 1) {
    return (
      <bdi className="graph-title" title={title}>
        {title}
      </bdi>
    );
  }
  return (
    <span className="graph-title" title={title}>
      <span className="visually-hidden">{title}</span>
      {lines.map((line, index) => (
        <bdi key={index} aria-hidden="true">
          {line}
        </bdi>
      ))}
    </span>
  );
}

const SIGNS = [
  ['running', '▶', 'running'],
  ['waiting', '◷', 'waiting'],
  ['failed', '✕', 'bad'],
  ['complete', '✓', 'good'],
  ['compensated', '⤺', 'warning'],
  ['canceled', '⊘', 'idle'],
] as const;

function Counts({ state }: { readonly state: StepLiveState }): ReactNode {
  return (
    <span className="graph-counts" title={stateInWords(state)}>
      {SIGNS.map(([name, sign, tone]) =>
        state[name] > 0 ? (
          <span key={name} className={`badge ${tone}`}>
            {sign}
            {state[name] > 1 && ` ${countText(state[name], state)}`}
          </span>
        ) : null,
      )}
    </span>
  );
}

function inWords(node: GraphNode, step: GraphStep, state: StepLiveState | undefined): string {
  const follows = [
    ...(step.nextStepId === null ? [] : [`then ${step.nextStepId}`]),
    ...step.choices.map(({ stepId, condition }) => `to ${stepId} if ${condition}`),
  ];
  return [
    `${node.title}, ${node.isUndo ? 'compensation, ' : ''}${step.type}`,
    step.detail ?? '',
    stateInWords(state),
    ...follows,
  ]
    .filter((part) => part !== '')
    .join('; ');
}

/** Moves the graph to the focused node, because the browser cannot scroll to it. */
function useBringIntoView(
  id: string,
  keepView: () => void,
): (event: FocusEvent<HTMLElement>) => void {
  const { getInternalNode, setCenter, getZoom } = useReactFlow();
  return ({ currentTarget }) => {
    if (!currentTarget.matches(':focus-visible')) return;
    const frame = currentTarget.closest('.react-flow')?.getBoundingClientRect();
    const box = currentTarget.getBoundingClientRect();
    const node = getInternalNode(id);
    if (frame === undefined || node === undefined || isInside(box, frame)) return;
    keepView();
    const { x, y } = node.internals.positionAbsolute;
    void setCenter(x + (node.width ?? 0) / 2, y + 30, { zoom: getZoom() });
  };
}

function isInside(inner: DOMRect, outer: DOMRect): boolean {
  return (
    inner.left >= outer.left &&
    inner.right <= outer.right &&
    inner.top >= outer.top &&
    inner.bottom <= outer.bottom
  );
}
