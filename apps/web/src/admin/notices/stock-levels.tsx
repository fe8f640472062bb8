import type { StockLevel } from '@netlet/contract'
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { fleet, inventory } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import classes from './notices.module.css'

/** More than any shop has. */
const MOST = 1000

const optionsOf = (rows: readonly { id: number; name: string }[] | undefined) =>
  (rows ?? []).map(({ id, name }) => ({ value: String(id), label: name }))

const useChoices = () => ({
  groups: optionsOf(useQuery(read(fleet.groups, { query: { limit: MOST } })).data?.data),
  rules: optionsOf(useQuery(read(inventory.rules, { query: { limit: MOST } })).data?.data)
})

export function useLevelsText() {
  const { groups, rules } = useChoices()
  const nameIn = (options: typeof groups, id: number) =>
    options.find(({ value }) => value === String(id))?.label ?? String(id)
  return (levels: readonly StockLevel[]) =>
    levels.map(one => `${nameIn(groups, one.group_id)}, ${nameIn(rules, one.rule_id)}: ${one.below}`).join('; ')
}

/** Thresholds for single groups and rules, if they differ from the cause's. */
export function StockLevels({
  levels,
  onChange
}: {
  levels: readonly StockLevel[]
  onChange: (levels: StockLevel[]) => void
}) {
  const t = useT()
  const { groups, rules } = useChoices()
  const [group, rule] = [groups[0], rules[0]]
  const change = (at: number, part: Partial<StockLevel>) =>
    onChange(levels.map((level, index) => (index === at ? { ...level, ...part } : level)))
  return (
    <fieldset className={`card ${classes.group}`}>
      <legend className="strong size-body" style={{ padding: '0 0.4rem' }}>
        {t('noticeRules.stock')}
      </legend>
      <p className="dim">{t('noticeRules.stockHelp')}</p>
      <ul className={`${classes.causes} ${classes.levels}`}>
        {levels.map((level, at) => (
          <li key={`${at}-${levels.length}`}>
            <NativeSelect
              aria-label={t('noticeRules.group')}
              data={groups}
              value={String(level.group_id)}
              onChange={event => change(at, { group_id: Number(event.currentTarget.value) })}
            />
            <NativeSelect
              aria-label={t('noticeRules.rule')}
              data={rules}
              value={String(level.rule_id)}
              onChange={event => change(at, { rule_id: Number(event.currentTarget.value) })}
            />
            <TextInput
              aria-label={t('noticeRules.below')}
              inputMode="numeric"
              value={String(level.below)}
              onChange={event =>
                change(at, { below: Number(event.currentTarget.value.replace(/\D/g, '').slice(0, 7)) })
              }
            />
            <Button
              variant="default"
              size="sm"
              aria-label={t('noticeRules.removeLevel')}
              onClick={() => onChange(levels.filter((_, index) => index !== at))}
            >
              <IconTrash size={16} aria-hidden />
            </Button>
          </li>
        ))}
      </ul>
      {group && rule && (
        <Button
          variant="default"
          size="sm"
          mt="sm"
          onClick={() =>
            onChange([...levels, { group_id: Number(group.value), rule_id: Number(rule.value), below: 0 }])
          }
        >
          {t('noticeRules.addLevel')}
        </Button>
      )}
    </fieldset>
  )
}
