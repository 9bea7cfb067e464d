"""Workers: other processes, here or on other machines, that fits are sent to.

Read ``cluster`` (what is in force in a ``with`` block, and how work is handed out), ``orders`` (what a worker is sent and
does), ``messages`` (how data sets are left out of what is sent), ``shared_data`` (where they are instead), ``kept_results``
(finished work, from which an interrupted run goes on) and ``dask_client`` (the one engine that is known by name; all others
are any ``concurrent.futures.Executor``).
"""
