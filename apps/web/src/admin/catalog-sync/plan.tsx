import type { CatalogPreview, SyncChange, SyncPlan, SyncPreview } from '@netlet/contract'
import { useT } from '../../i18n/admin.ts'
import { EmptyState } from '../../kit/states.tsx'
import classes from './sync.module.css'

const VISIBILITIES = ['internal', 'unlisted', 'shown'] as const
const isVisibility = (value: string): value is (typeof VISIBILITIES)[number] => VISIBILITIES.some(one => one === value)

function ChangeList({ changes, label }: { changes: readonly SyncChange[]; label: string }) {
  const t = useT()
  const shown = (field: SyncChange['fields'][number]['field'], value: string): string => {
    if (field === 'visibility' && isVisibility(value)) return t(`sync.visibility.${value}`)
    return value || '–'
  }
  if (changes.length === 0) return null
  return (
    <ul className={classes.changes} aria-label={label} tabIndex={0}>
      {changes.map(({ kind, name, fields }, at) => (
        <li key={at} data-kind={kind}>
          <strong>{t(`sync.kind.${kind}`)}</strong>
          <span>{name}</span>
          {fields.map(({ field, was, is }) => (
            <small key={field}>
              {t('form.staleField', { field: t(`sync.field.${field}`), was: shown(field, was), is: shown(field, is) })}
            </small>
          ))}
        </li>
      ))}
    </ul>
  )
}

export const isNothing = (plan: SyncPlan): boolean =>
  plan.products === 0 &&
  (plan.what === 'catalogue' ? plan.parts.every(one => one.changes.length === 0) : plan.changes.length === 0)

export function Plan({ plan }: { plan: SyncPlan }) {
  const t = useT()
  const changes = plan.what === 'catalogue' ? <Parts plan={plan} /> : <Changes plan={plan} />
  return (
    <>
      {isNothing(plan) ? <EmptyState title={t('sync.nothing')} body={t('sync.nothingHint')} /> : changes}
      {plan.what === 'catalogue' && <Aside plan={plan} />}
    </>
  )
}

function Changes({ plan }: { plan: SyncPreview }) {
  const t = useT()
  const { created, updated, removed, products, changes } = plan
  const left = created + updated + removed - changes.length
  return (
    <>
      <p>{t('sync.counts', { created, updated, removed, products })}</p>
      <ChangeList changes={changes} label={t('sync.changes')} />
      {left > 0 && <p className="dim">{t('sync.more', { count: left })}</p>}
      <p className="dim">{t('sync.kept')}</p>
    </>
  )
}

function Parts({ plan }: { plan: CatalogPreview }) {
  const t = useT()
  return (
    <>
      {plan.parts.map(({ part, created, updated, removed, changes }) => {
        const left = created + updated + removed - changes.length
        if (changes.length === 0) return null
        return (
          <section key={part} aria-label={t(`sync.part.${part}`)} className="stack">
            <h3 className={`row baseline size-body ${classes.part}`} style={{ gap: '0 0.75rem' }}>
              {t(`sync.part.${part}`)}
              <small className="dim num">{t('sync.partCounts', { created, updated, removed })}</small>
            </h3>
            <ChangeList changes={changes} label={t('sync.changesOf', { part: t(`sync.part.${part}`) })} />
            {left > 0 && <p className="dim">{t('sync.more', { count: left })}</p>}
          </section>
        )
      })}
      {plan.products > 0 && <p>{t('sync.moved', { count: plan.products })}</p>}
      <p className="dim">{t('sync.kept')}</p>
    </>
  )
}

/** What a sync leaves out: internal products, and plans for new products. */
function Aside({ plan: { internal, offered } }: { plan: CatalogPreview }) {
  const t = useT()
  return (
    <>
      {internal.length > 0 && (
        <section aria-label={t('sync.internal')}>
          <h3 className={`row baseline size-body ${classes.part}`} style={{ gap: '0 0.75rem' }}>
            {t('sync.internal')}
          </h3>
          <ul className="breaks size-body">
            {internal.map(({ kind, name, because }) => (
              <li key={`${kind} ${name}`}>
                <strong>{name}</strong>{' '}
                <span className="dim">{t(`sync.internalBy.${kind}`, { products: because.join(', ') })}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {offered.length > 0 && (
        <details>
          <summary>{t('sync.offered', { count: offered.length })}</summary>
          <p className="dim">{t('sync.offeredHint')}</p>
          <ul className="breaks size-body">
            {offered.map(({ id, name }) => (
              <li key={id}>{name}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
