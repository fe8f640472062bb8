import { Skeleton } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { support } from '../../api/routes.ts'
import { useT } from '../../i18n/landing.ts'
import classes from './more.module.css'

const SHOWN = 5

export function Questions() {
  const t = useT()
  const { data, isPending } = useQuery({ ...read(support.faqs, { query: { limit: SHOWN } }), staleTime: 60_000 })
  if (!isPending && !data?.data.length) return null
  return (
    <section className={`wide ${classes.section} ${classes.split}`} aria-labelledby="questions">
      <div>
        <h2 id="questions">{t('questions.title')}</h2>
        <p className={classes.after}>
          <Link to="/support">
            {t('questions.all')} <IconArrowRight size={16} aria-hidden />
          </Link>
        </p>
      </div>
      <div className={classes.questions} aria-busy={isPending}>
        {isPending
          ? Array.from({ length: SHOWN }, (_, key) => <Skeleton key={key} height="3.33rem" mb={1} />)
          : data?.data.map(({ id, question, answer }) => (
              <details key={id}>
                <summary>{question}</summary>
                <p>{answer}</p>
              </details>
            ))}
      </div>
    </section>
  )
}
