import { Button, Skeleton } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/index.ts'
import { useNames } from '../../i18n/names.ts'
import classes from './landing.module.css'

type Props = { applied: number[]; onConfirm: (tags: number[]) => void }

export function TagPicker({ applied, onConfirm }: Props) {
  const t = useT()
  const names = useNames()
  const [chosen, setChosen] = useState<number[]>(applied)
  const [shown, setShown] = useState(applied.join())
  const [missing, setMissing] = useState(false)
  const problem = useId()
  const choose = (ids: number[]) => {
    setMissing(false)
    setChosen(ids)
  }
  // After Back or Forward, mark the tags that the table shows.
  if (shown !== applied.join()) {
    setShown(applied.join())
    choose(applied)
  }
  const { data, isPending } = useQuery(read(catalog.tags, { query: { limit: 100 } }))
  const tags = data?.data.filter(tag => tag.tag_name.trim())
  if (!isPending && !tags?.length) return null

  const toggle = (id: number) => choose(chosen.includes(id) ? chosen.filter(one => one !== id) : [...chosen, id])
  const confirm = () => (chosen.length > 0 ? onConfirm(chosen) : setMissing(true))

  return (
    <div className="row start between" style={{ gap: '1rem', minHeight: '2.4rem', marginBlock: '1.25rem' }}>
      <ul
        className="row stretch"
        style={{ gap: '0.5rem', flex: '1 1 24rem' }}
        aria-label={t('landing.tags')}
        aria-invalid={missing || undefined}
        aria-describedby={missing ? problem : undefined}
      >
        {isPending
          ? [5, 7, 4, 6, 5].map((width, index) => (
              <li key={index}>
                <Skeleton height={36} width={`${width}rem`} radius="xl" />
              </li>
            ))
          : tags?.map(tag => (
              <li key={tag.id}>
                <button
                  type="button"
                  className={classes.tag}
                  aria-pressed={chosen.includes(tag.id)}
                  title={names.text(tag, tag.tag_desc, 'desc') || undefined}
                  onClick={() => toggle(tag.id)}
                >
                  {chosen.includes(tag.id) && <IconCheck size={15} aria-hidden />}
                  {names.tag(tag)}
                </button>
              </li>
            ))}
      </ul>
      <div className="row">
        <Button
          variant="default"
          onClick={() => {
            choose([])
            onConfirm([])
          }}
        >
          {t('reset')}
        </Button>
        <Button onClick={confirm}>{t('confirm')}</Button>
      </div>
      {missing && (
        <p id={problem} role="alert" className={classes.problem}>
          {t('landing.selectTag')}
        </p>
      )}
    </div>
  )
}
