import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';

/** The header of W3C Trace Context that says which trace a call belongs to. */
export const TRACEPARENT = 'traceparent';

/** Where a call comes from: in the log and in the headers of what is called because of it. */
export interface Origin {
  readonly requestId: string;
  /** As the caller has sent it, if that can be passed on. */
  readonly traceparent?: string | undefined;
}

export interface StartedSpan {
  readonly span: Span;
  readonly context: Context;
}

type Attributes = Readonly<Record<string, string | number | boolean>>;

/**
 * What creates spans. Undefined when no SDK collects them. Each part asks once, when it is created: an SDK registers itself before the service
 * starts (node --import).
 */
export function findTracing() {
  const tracer = registeredTracer();
  if (!tracer) return undefined;
  const started = (span: Span, parent: Context): StartedSpan => ({ span, context: trace.setSpan(parent, span) });
  return {
    /** As a child of the caller's span, or as a new trace. */
    startRequest(name: string, traceparent: string | undefined): StartedSpan {
      const remote = traceparent === undefined ? undefined : parseTraceparent(traceparent);
      const parent = remote ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true }) : ROOT_CONTEXT;
      return started(tracer.startSpan(name, { kind: SpanKind.SERVER }, parent), parent);
    },
    /** A call to another system: as a child of the present span, or as a new trace. */
    startCall(name: string, attributes: Attributes): StartedSpan {
      const parent = context.active();
      return started(tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent), parent);
    },
    /** Undefined when there is no span that it belongs to: jobs look for work many times a second. */
    startStatement(name: string): StartedSpan | undefined {
      const parent = context.active();
      if (trace.getSpan(parent) === undefined) return undefined;
      const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': name };
      return started(tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent), parent);
    },
    /** Runs work so that what it begins belongs to the span. */
    runWithin: <T>({ context: at }: Pick<StartedSpan, 'context'>, work: () => T): T => context.with(at, work),
    currentContext: () => context.active(),
  };
}

export type Tracing = NonNullable<ReturnType<typeof findTracing>>;

/** Undefined when no SDK is registered: the API then has a proxy that delegates to no tracer. */
function registeredTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  const name = 'perennial';
  return 'getDelegateTracer' in provider
    ? (provider as { getDelegateTracer(name: string): Tracer | undefined }).getDelegateTracer(name)
    : provider.getTracer(name);
}

/** Ends the span of work that has failed. Only the kind of the error: a message may repeat what it was given. */
export function failSpan(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : typeof error });
  span.end();
}

/** The header of a call made within the span. */
export function toTraceparent(span: Span): string {
  return formatTraceparent(span.spanContext());
}

const TRACEPARENT_FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Later versions may add fields at the end; those are ignored. */
function parseTraceparent(value: string) {
  const [, version = '', traceId = '', spanId = '', flags = '', more] = TRACEPARENT_FORM.exec(value) ?? [];
  if (traceId === '' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

/** The header if it is valid, in the form in which it is passed on. */
export function readTraceparent(value: unknown): string | undefined {
  const parsed = typeof value === 'string' ? parseTraceparent(value) : undefined;
  return parsed && formatTraceparent(parsed);
}

const formatTraceparent = ({ traceId, spanId, traceFlags }: Pick<SpanContext, 'traceId' | 'spanId' | 'traceFlags'>) =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
