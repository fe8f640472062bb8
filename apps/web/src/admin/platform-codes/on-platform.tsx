import type { CodeKind, CodeState, Coupon } from '@netlet/contract'
import { IconCloudSearch, IconCloudUpload } from '@tabler/icons-react'
import type { Endpoint } from '../../api/client.ts'
import { rewards } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { StateBadge, type Tone } from '../../kit/state-badge.tsx'
import { column, May, oneOf, RowButton, useCommand } from '../kit/index.ts'
import { none } from '../../kit/none.tsx'

type Seen = Pick<Coupon, 'id' | 'platform_state' | 'platform_differs' | 'platform_problem'> & { code: string | null }

const TONES: Record<CodeState, Tone> = {
  unknown: 'off',
  waiting: 'busy',
  present: 'good',
  differs: 'wait',
  missing: 'bad',
  refused: 'bad'
}

export const platformFilter = oneOf('platform_state', Object.keys(TONES), 'codes.state')

/** The platform's state for a row's code, with buttons to check and create. Empty for used or assigned codes. */
export const platformColumn = <R extends Seen>(
  { kind, list }: { kind: CodeKind; list: Endpoint },
  isOver: (row: R) => boolean
) =>
  column('platform_state', (row: R) =>
    isOver(row) || !row.code || row.platform_state === null ? (
      none
    ) : (
      <OnPlatform row={{ ...row, code: row.code }} state={row.platform_state} kind={kind} list={list} />
    )
  )

type Props = { row: Seen & { code: string }; state: CodeState; kind: CodeKind; list: Endpoint }

function OnPlatform({ row, state, kind, list }: Props) {
  const t = useT()
  const { id, code, platform_differs: differs, platform_problem: problem } = row
  const note = problem ?? differs.map(one => t(`codes.differs.${one}`)).join(', ')
  return (
    <span className="row inline" style={{ gap: '0.15rem 0.4rem' }}>
      <StateBadge tone={TONES[state]}>{t(`codes.state.${state}`)}</StateBadge>
      <May make={rewards.codeOnPlatform}>
        <Ask order={{ kind, id, act: 'check' }} code={code} list={list} />
        {(state === 'missing' || state === 'differs' || state === 'refused') && (
          <Ask order={{ kind, id, act: 'create' }} code={code} list={list} />
        )}
      </May>
      {note && (
        <small className="dim breaks" style={{ flexBasis: '100%', maxWidth: '18rem' }}>
          {note}
        </small>
      )}
    </span>
  )
}

const ICONS = { check: IconCloudSearch, create: IconCloudUpload }

function Ask({
  order,
  code,
  list
}: {
  order: { kind: CodeKind; id: number; act: 'check' | 'create' }
  code: string
  list: Endpoint
}) {
  const t = useT()
  const ask = useCommand(rewards.codeOnPlatform, { success: t('codes.asked'), invalidate: [list] })
  return (
    <RowButton
      label={t(`codes.${order.act}`)}
      name={code}
      icon={ICONS[order.act]}
      busy={ask.running}
      onClick={() => void ask.run({ body: order })}
    />
  )
}
