import { Handle, Position, useReactFlow, type Node, type NodeProps } from '@xyflow/react';
import { use, type FocusEvent, type ReactNode } from 'react';
import { GraphContext } from './graph-context.js';
import type { GraphNode } from './graph-model.js';
import { stateInWords, toneOf, type StepLiveState } from './live-states.js';
import type { GraphStep } from './read-definition.js';
import { StepIcon } from './step-icon.js';

export interface PlacedNodeData extends Record<string, unknown> {
  readonly node: GraphNode;
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
  return (
    <div className="graph-branch">
      <span>{data.node.title}</span>
    </div>
  );
}

function MissingNode({ data }: Props): ReactNode {
  return (
    <div className="graph-missing">
      <Handles />
      <bdi className="graph-title">{data.node.title}</bdi>
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
  const tone = toneOf(use(GraphContext).states?.get(node.step?.id ?? ''));
  return (
    <div className={`graph-container tone-${tone}${node.step?.isSaga === true ? ' saga' : ''}`}>
      <Handles />
      <StepBox {...props} />
    </div>
  );
}

/** A button if steps can be selected. */
function StepBox({ data: { node }, id }: Props): ReactNode {
  const { states, selectedStepId, onSelectStep } = use(GraphContext);
  const bringIntoView = useBringIntoView(id);
  const { step } = node;
  if (step === null) return null;
  const state = states?.get(step.id);
  const classes = [
    'graph-step',
    `tone-${toneOf(state)}`,
    node.isUndo ? 'undo' : '',
    selectedStepId === step.id ? 'selected' : '',
  ];
  const content = <StepContent node={node} step={step} state={state} />;
  if (onSelectStep === undefined) return <div className={classes.join(' ')}>{content}</div>;
  return (
    <button
      type="button"
      className={classes.join(' ')}
      aria-pressed={selectedStepId === step.id}
      onFocus={bringIntoView}
      onClick={() => onSelectStep(step.id)}
    >
      <span className="visually-hidden">{inWords(node, step, state)}</span>
      <span className="graph-step-content" aria-hidden="true">
        {content}
      </span>
    </button>
  );
}

function StepContent({
  node,
  step,
  state,
}: {
  readonly node: GraphNode;
  readonly step: GraphStep;
  readonly state: StepLiveState | undefined;
}): ReactNode {
  const wait = state?.wait ?? null;
  return (
    <>
      <span className="graph-line">
        <StepIcon type={step.type} />
        <bdi className="graph-title" title={node.title}>
          {node.title}
        </bdi>
        {state !== undefined && <Counts state={state} />}
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
      </span>
    </>
  );
}

const SIGNS = [
  ['running', '▶', 'running'],
  ['waiting', '◷', 'waiting'],
  ['failed', '✕', 'bad'],
  ['complete', '✓', 'good'],
  ['compensated', '⤺', 'warning'],
  ['cancelled', '⊘', 'idle'],
] as const;

function Counts({ state }: { readonly state: StepLiveState }): ReactNode {
  return (
    <span className="graph-counts" title={stateInWords(state)}>
      {SIGNS.map(([name, sign, tone]) =>
        state[name] > 0 ? (
          <span key={name} className={`badge ${tone}`}>
            {sign}
            {state[name] > 1 && ` ${shortCount(state[name])}`}
          </span>
        ) : null,
      )}
    </span>
  );
}

function shortCount(count: number): string {
  return count < 1000 ? String(count) : `${Math.floor(count / 1000)}k`;
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
function useBringIntoView(id: string): (event: FocusEvent<HTMLElement>) => void {
  const { getInternalNode, setCenter, getZoom } = useReactFlow();
  return ({ currentTarget }) => {
    if (!currentTarget.matches(':focus-visible')) return;
    const frame = currentTarget.closest('.react-flow')?.getBoundingClientRect();
    const box = currentTarget.getBoundingClientRect();
    const node = getInternalNode(id);
    if (frame === undefined || node === undefined || isInside(box, frame)) return;
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
