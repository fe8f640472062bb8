import { pageAt } from '@netlet/contract/pages'
import { IconArrowRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { support } from '../../api/routes.ts'
import { useT } from '../../i18n/landing.ts'
import { QuestionList } from '../question-list.tsx'
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
          <Link to={pageAt('support')}>
            {t('questions.all')} <IconArrowRight size={16} aria-hidden />
          </Link>
        </p>
      </div>
      <QuestionList questions={data?.data} places={SHOWN} />
    </section>
  )
}
